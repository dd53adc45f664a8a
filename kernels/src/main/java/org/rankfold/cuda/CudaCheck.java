// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import org.bytedeco.cuda.global.cudart;
import org.bytedeco.cuda.global.nvrtc;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;

/**
 * The one check that every code returned by CUDA passes. What it throws says which call failed,
 * with the code's name and text, and by its category whether the device can still be used.
 */
final class CudaCheck {
  private CudaCheck() {}

  /**
   * Passes a driver call's code.
   *
   * @throws CollectiveException TOO_LITTLE_MEMORY, UNSUPPORTED, DEVICE_CALL_FAILED or DEVICE_LOST
   */
  static void driver(int code, String call) {
    if (code != cudart.CUDA_SUCCESS) {
      throw failure(code, call);
    }
  }

  /** As {@link #driver}, but false for work that is still running. */
  static boolean isDone(int code, String call) {
    if (code == cudart.CUDA_ERROR_NOT_READY) {
      return false;
    }
    driver(code, call);
    return true;
  }

  /** Passes a code of the run-time compiler. */
  static void compiler(int code, String call, String log) {
    if (code != nvrtc.NVRTC_SUCCESS) {
      throw new CollectiveException(
          ErrorCode.DEVICE_CALL_FAILED,
          call + " returned " + code + " (" + text(nvrtc.nvrtcGetErrorString(code)) + ")\n" + log);
    }
  }

  static String describe(int code) {
    try (PointerPointer<BytePointer> out = new PointerPointer<>(1L)) {
      String name = null;
      String text = null;
      if (cudart.cuGetErrorName(code, out) == cudart.CUDA_SUCCESS) {
        name = text(out.get(BytePointer.class));
      }
      if (cudart.cuGetErrorString(code, out) == cudart.CUDA_SUCCESS) {
        text = text(out.get(BytePointer.class));
      }
      return code + " (" + name + ": " + text + ")";
    }
  }

  private static CollectiveException failure(int code, String call) {
    return new CollectiveException(
        meaning(code), call + " returned " + describe(code), OutState.NOT_APPLICABLE, null);
  }

  private static ErrorCode meaning(int code) {
    return switch (code) {
      case cudart.CUDA_ERROR_OUT_OF_MEMORY -> ErrorCode.TOO_LITTLE_MEMORY;
      case cudart.CUDA_ERROR_STUB_LIBRARY,
          cudart.CUDA_ERROR_NO_DEVICE,
          cudart.CUDA_ERROR_NO_BINARY_FOR_GPU,
          cudart.CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
          cudart.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
          cudart.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE ->
          ErrorCode.UNSUPPORTED;
      // After these every call on the device's context fails until the process ends.
      case cudart.CUDA_ERROR_ECC_UNCORRECTABLE,
          cudart.CUDA_ERROR_NVLINK_UNCORRECTABLE,
          cudart.CUDA_ERROR_ILLEGAL_ADDRESS,
          cudart.CUDA_ERROR_LAUNCH_TIMEOUT,
          cudart.CUDA_ERROR_CONTEXT_IS_DESTROYED,
          cudart.CUDA_ERROR_ASSERT,
          cudart.CUDA_ERROR_HARDWARE_STACK_ERROR,
          cudart.CUDA_ERROR_ILLEGAL_INSTRUCTION,
          cudart.CUDA_ERROR_MISALIGNED_ADDRESS,
          cudart.CUDA_ERROR_INVALID_ADDRESS_SPACE,
          cudart.CUDA_ERROR_INVALID_PC,
          cudart.CUDA_ERROR_LAUNCH_FAILED,
          cudart.CUDA_ERROR_UNKNOWN ->
          ErrorCode.DEVICE_LOST;
      default -> ErrorCode.DEVICE_CALL_FAILED;
    };
  }

  private static String text(BytePointer text) {
    return text == null || text.isNull() ? "unknown" : text.getString();
  }
}
