// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bytedeco.cuda.cudart.CUuuid;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.SizeTPointer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Whether this process can use CUDA, decided once: at the first question, never before. A process
 * that cannot goes on without; {@link #reason()} says what was found, where, and what to install.
 * Thread-safe; the first question takes a second or so where there is a driver.
 */
public final class CudaProbe {
  private static final String INSTALL =
      "A GPU job needs Linux, the NVIDIA driver (libcuda.so.1, 580 or newer), CUDA 13's runtime and"
          + " compiler (libcudart.so.13, libnvrtc.so.13) on LD_LIBRARY_PATH or known to ldconfig,"
          + " and org.bytedeco:cuda and javacpp on the class path, with their linux-x86_64 or"
          + " linux-arm64 jars.";

  /** The process's answer: held apart so that loading this class asks nothing. */
  private static final class Answer {
    static final CudaProbe PROCESS = ask();
  }

  private final String reason;
  private final String versions;
  private final List<CudaDeviceInfo> devices;

  private CudaProbe(String reason, String versions, List<CudaDeviceInfo> devices) {
    this.reason = reason;
    this.versions = versions;
    this.devices = List.copyOf(devices);
  }

  /**
   * The answer for this process.
   *
   * @return always the same
   */
  public static CudaProbe process() {
    return Answer.PROCESS;
  }

  /**
   * Whether kernels can be compiled and run here.
   *
   * @return true with a driver, at least one device, and the run-time compiler
   */
  public boolean isAvailable() {
    return reason.isEmpty();
  }

  /**
   * Why CUDA cannot be used.
   *
   * @return what was asked, what was found and what to install; empty when it can be used
   */
  public String reason() {
    return reason;
  }

  /**
   * The versions found and where the libraries were loaded from.
   *
   * @return one line; what was not found is left out
   */
  public String versions() {
    return versions;
  }

  /**
   * The devices, by ordinal.
   *
   * @return none when CUDA cannot be used
   */
  public List<CudaDeviceInfo> devices() {
    return devices;
  }

  /**
   * Insists.
   *
   * @return this
   * @throws CollectiveException UNSUPPORTED with the reason when CUDA cannot be used
   */
  public CudaProbe require() {
    if (!isAvailable()) {
      throw new CollectiveException(ErrorCode.UNSUPPORTED, reason);
    }
    return this;
  }

  private static CudaProbe ask() {
    List<String> found = new ArrayList<>();
    List<CudaDeviceInfo> devices = new ArrayList<>();
    String problem = problem(found, devices);
    String versions = found.isEmpty() ? "nothing" : String.join(", ", found);
    if (problem == null) {
      return new CudaProbe("", versions, devices);
    }
    String reason = "CUDA cannot be used: " + problem + ". Found: " + versions + ". " + INSTALL;
    return new CudaProbe(reason, versions, List.of());
  }

  /** What is missing, or null; what is there goes to the lists. */
  private static String problem(List<String> found, List<CudaDeviceInfo> devices) {
    if (!System.getProperty("os.name").equals("Linux")) {
      return "os.name=" + System.getProperty("os.name") + " is not Linux";
    }
    try {
      CudaLibraries.loadRuntime();
      int code = cudart.cuInit(0);
      if (code != cudart.CUDA_SUCCESS) {
        return "cuInit returned " + CudaCheck.describe(code);
      }
      int[] version = new int[1];
      CudaCheck.driver(cudart.cuDriverGetVersion(version), "cuDriverGetVersion");
      found.add("driver API " + dotted(version[0]) + from("libcuda.so"));
      if (cudart.cudaRuntimeGetVersion(version) == 0) {
        found.add("runtime " + dotted(version[0]) + from("libcudart.so"));
      }
      CudaCheck.driver(cudart.cuDeviceGetCount(version), "cuDeviceGetCount");
      for (int ordinal = 0; ordinal < version[0]; ordinal++) {
        devices.add(info(ordinal));
      }
      if (devices.isEmpty()) {
        return "the driver shows no device; CUDA_VISIBLE_DEVICES="
            + System.getenv("CUDA_VISIBLE_DEVICES");
      }
      found.add("NVRTC " + Nvrtc.version() + from("libnvrtc.so"));
      return null;
    } catch (LinkageError e) {
      return "a library does not load: " + CudaLibraries.why(e);
    } catch (RuntimeException e) {
      return "the probe failed: " + CudaLibraries.why(e);
    }
  }

  private static CudaDeviceInfo info(int ordinal) {
    int[] handle = new int[1];
    CudaCheck.driver(cudart.cuDeviceGet(handle, ordinal), "cuDeviceGet");
    int device = handle[0];
    byte[] name = new byte[256];
    byte[] pci = new byte[32];
    CudaCheck.driver(cudart.cuDeviceGetName(name, name.length, device), "cuDeviceGetName");
    CudaCheck.driver(cudart.cuDeviceGetPCIBusId(pci, pci.length, device), "cuDeviceGetPCIBusId");
    try (SizeTPointer bytes = new SizeTPointer(1)) {
      CudaCheck.driver(cudart.cuDeviceTotalMem(bytes, device), "cuDeviceTotalMem");
      return new CudaDeviceInfo(
          ordinal,
          text(name),
          text(pci),
          uuid(device),
          attribute(cudart.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
          attribute(cudart.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
          attribute(cudart.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
          bytes.get());
    }
  }

  private static String uuid(int device) {
    try (CUuuid uuid = new CUuuid()) {
      CudaCheck.driver(cudart.cuDeviceGetUuid(uuid, device), "cuDeviceGetUuid");
      byte[] bytes = new byte[16];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = uuid.bytes(i);
      }
      ByteBuffer both = ByteBuffer.wrap(bytes);
      return "GPU-" + new UUID(both.getLong(), both.getLong());
    }
  }

  private static int attribute(int attribute, int device) {
    int[] value = new int[1];
    CudaCheck.driver(cudart.cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
    return value[0];
  }

  private static String text(byte[] zeroTerminated) {
    int length = 0;
    while (length < zeroTerminated.length && zeroTerminated[length] != 0) {
      length++;
    }
    return new String(zeroTerminated, 0, length, StandardCharsets.UTF_8);
  }

  /** 13000 is 13.0. */
  private static String dotted(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }

  private static String from(String library) {
    List<String> paths = CudaLibraries.mapped(library);
    return paths.isEmpty() ? "" : " (" + String.join(", ", paths) + ")";
  }
}
