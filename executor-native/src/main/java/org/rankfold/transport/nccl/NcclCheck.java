// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import org.bytedeco.cuda.global.nccl;
import org.bytedeco.javacpp.BytePointer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * The one check that every code returned by NCCL passes. What it throws says which call failed,
 * with the code's text and the library's last warning, and by its code whose fault it was.
 */
final class NcclCheck {
  private NcclCheck() {}

  /**
   * Passes a code of a call that is over when it returns.
   *
   * @throws CollectiveException PEER_FAILED, DEVICE_CALL_FAILED or INTERNAL
   */
  static void success(int code, String call) {
    if (code != nccl.ncclSuccess) {
      throw failure(code, call);
    }
  }

  /** As {@link #success}, but true for what a non-blocking communicator has only begun. */
  static boolean isInProgress(int code, String call) {
    if (code == nccl.ncclInProgress) {
      return true;
    }
    success(code, call);
    return false;
  }

  private static CollectiveException failure(int code, String call) {
    return failure(
        code, call, text(nccl.ncclGetErrorString(code)), text(nccl.ncclGetLastError(null)));
  }

  /** The failure from what the library said of it. */
  static CollectiveException failure(int code, String call, String text, String lastError) {
    return new CollectiveException(
        meaning(code), call + " returned " + code + " (" + text + "); last warning: " + lastError);
  }

  /** Errors of sockets and files come from a peer's end more often than from anything else. */
  private static ErrorCode meaning(int code) {
    return switch (code) {
      case nccl.ncclRemoteError, nccl.ncclSystemError, nccl.ncclTimeout -> ErrorCode.PEER_FAILED;
      case nccl.ncclUnhandledCudaError -> ErrorCode.DEVICE_CALL_FAILED;
      default -> ErrorCode.INTERNAL;
    };
  }

  private static String text(BytePointer text) {
    if (text == null || text.isNull()) {
      return "none";
    }
    String line = text.getString().strip();
    return line.isEmpty() ? "none" : line;
  }
}
