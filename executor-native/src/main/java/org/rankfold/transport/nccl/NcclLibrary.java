// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.List;
import org.bytedeco.cuda.global.nccl;
import org.rankfold.cuda.CudaLibraries;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Whether this process can use NCCL, decided once: at the first question, never before. A process
 * that cannot goes on without; {@link #reason()} says what was found, where, and what to install.
 * Asking opens no socket and starts no thread. Thread-safe.
 */
public final class NcclLibrary {
  /** NCCL 2.26.0, in the form of {@link #version()}. */
  public static final int OLDEST = 22_600;

  private static final String INSTALL =
      "NCCL 2.26 or newer for CUDA 13 is needed as libnccl.so.2 on LD_LIBRARY_PATH or known to"
          + " ldconfig, the same version on every host: NVIDIA's package libnccl2 or the wheel"
          + " nvidia-nccl-cu13 has it, and spark.executorEnv.LD_LIBRARY_PATH leads executors to it;"
          + " and org.bytedeco:cuda with its linux-x86_64 or linux-arm64 jar on the class path.";

  /** The process's answer: held apart so that loading this class asks nothing. */
  private static final class Answer {
    static final NcclLibrary PROCESS = ask();
  }

  private final String reason;
  private final int version;
  private final List<String> paths;

  private NcclLibrary(String reason, int version, List<String> paths) {
    this.reason = reason;
    this.version = version;
    this.paths = List.copyOf(paths);
  }

  /**
   * The answer for this process.
   *
   * @return always the same
   */
  public static NcclLibrary process() {
    return Answer.PROCESS;
  }

  /**
   * Whether communicators can be formed here.
   *
   * @return true with CUDA, a device, and an NCCL that is new enough
   */
  public boolean isAvailable() {
    return reason.isEmpty();
  }

  /**
   * Why NCCL cannot be used.
   *
   * @return what was found, where, and what to install; empty when it can be used
   */
  public String reason() {
    return reason;
  }

  /**
   * The version as NCCL counts: 22809 is 2.28.9. All tasks of a group need the same.
   *
   * @return the version, 0 when NCCL was not found
   */
  public int version() {
    return version;
  }

  /**
   * The version and where the library was loaded from, for messages.
   *
   * @return for example {@code NCCL 2.28.9 (/usr/lib/libnccl.so.2)}
   */
  public String describe() {
    return describe(version, paths);
  }

  /**
   * Insists.
   *
   * @return this
   * @throws CollectiveException UNSUPPORTED with the reason when NCCL cannot be used
   */
  public NcclLibrary require() {
    if (!isAvailable()) {
      throw new CollectiveException(ErrorCode.UNSUPPORTED, reason);
    }
    return this;
  }

  private static NcclLibrary ask() {
    CudaProbe cuda = CudaProbe.process();
    if (!cuda.isAvailable()) {
      return new NcclLibrary("NCCL cannot be used. " + cuda.reason(), 0, List.of());
    }
    try {
      CudaLibraries.load(nccl.class);
      int[] version = new int[1];
      NcclCheck.success(nccl.ncclGetVersion(version), "ncclGetVersion");
      return judge(version[0], CudaLibraries.mapped("libnccl.so"));
    } catch (LinkageError | RuntimeException e) {
      String why = "a library does not load: " + CudaLibraries.why(e);
      return new NcclLibrary(refusal(why, 0, CudaLibraries.mapped("libnccl.so")), 0, List.of());
    }
  }

  /** What follows from a version that was found. */
  static NcclLibrary judge(int version, List<String> paths) {
    String reason =
        version >= OLDEST
            ? ""
            : refusal(
                "version " + dotted(version) + " is older than " + dotted(OLDEST), version, paths);
    return new NcclLibrary(reason, version, paths);
  }

  private static String refusal(String problem, int version, List<String> paths) {
    return "NCCL cannot be used: "
        + problem
        + ". Found: "
        + describe(version, paths)
        + ", LD_LIBRARY_PATH="
        + System.getenv("LD_LIBRARY_PATH")
        + ". "
        + INSTALL;
  }

  private static String describe(int version, List<String> paths) {
    String found = version == 0 ? "no NCCL" : "NCCL " + dotted(version);
    return paths.isEmpty() ? found : found + " (" + String.join(", ", paths) + ")";
  }

  /** 22809 is 2.28.9; before 2.9, 2804 was 2.8.4. */
  static String dotted(int version) {
    return version < 10_000
        ? version / 1000 + "." + version % 1000 / 100 + "." + version % 100
        : version / 10_000 + "." + version % 10_000 / 100 + "." + version % 100;
  }
}
