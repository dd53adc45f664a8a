// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.cuda.global.nvrtc;
import org.bytedeco.cuda.nvrtc._nvrtcProgram;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.javacpp.SizeTPointer;
import org.rankfold.errors.CollectiveException;

/**
 * CUDA's compiler as a library. It needs no device. Thread-safe; a compilation takes tenths of a
 * second.
 */
public final class Nvrtc {
  private Nvrtc() {}

  /**
   * The compiler's version.
   *
   * @return for example {@code 13.0}
   * @throws LinkageError when the compiler is not there
   */
  public static String version() {
    CudaLibraries.loadCompiler();
    int[] major = new int[1];
    int[] minor = new int[1];
    CudaCheck.compiler(nvrtc.nvrtcVersion(major, minor), "nvrtcVersion", "");
    return major[0] + "." + minor[0];
  }

  /**
   * The options of all code whose bits matter: nothing contracted, nothing flushed, everything
   * rounded.
   *
   * @param architecture for example {@code sm_90}
   * @return what to compile with, beside the source's own definitions
   */
  public static List<String> exactOptions(String architecture) {
    return List.of(
        "--gpu-architecture=" + architecture,
        "--std=c++17",
        "--fmad=false",
        "--ftz=false",
        "--prec-div=true",
        "--prec-sqrt=true");
  }

  /**
   * Compiles to machine code.
   *
   * @param source CUDA C++
   * @param name the source's name in messages
   * @param options as on {@code nvcc}'s command line, with {@code --gpu-architecture=sm_NN}
   * @return a CUBIN
   * @throws CollectiveException DEVICE_CALL_FAILED with the compiler's messages
   * @throws LinkageError when the compiler is not there
   */
  public static byte[] cubin(String source, String name, List<String> options) {
    return compile(
        source,
        name,
        options,
        (program, size) ->
            CudaCheck.compiler(nvrtc.nvrtcGetCUBINSize(program, size), "nvrtcGetCUBINSize", ""),
        (program, code) ->
            CudaCheck.compiler(nvrtc.nvrtcGetCUBIN(program, code), "nvrtcGetCUBIN", ""));
  }

  /**
   * Compiles to PTX, the text before machine code.
   *
   * @param source CUDA C++
   * @param name the source's name in messages
   * @param options as on {@code nvcc}'s command line
   * @return the text
   * @throws CollectiveException DEVICE_CALL_FAILED with the compiler's messages
   * @throws LinkageError when the compiler is not there
   */
  public static String ptx(String source, String name, List<String> options) {
    byte[] text =
        compile(
            source,
            name,
            options,
            (program, size) ->
                CudaCheck.compiler(nvrtc.nvrtcGetPTXSize(program, size), "nvrtcGetPTXSize", ""),
            (program, code) ->
                CudaCheck.compiler(nvrtc.nvrtcGetPTX(program, code), "nvrtcGetPTX", ""));
    // The size counts the zero at the end.
    return new String(text, 0, text.length - 1, StandardCharsets.UTF_8);
  }

  private static byte[] compile(
      String source, String name, List<String> options, SizeCall size, CodeCall code) {
    CudaLibraries.loadCompiler();
    _nvrtcProgram program = new _nvrtcProgram();
    List<BytePointer> texts = new ArrayList<>();
    try (BytePointer sourceText = new BytePointer(source, StandardCharsets.UTF_8);
        BytePointer nameText = new BytePointer(name, StandardCharsets.UTF_8);
        PointerPointer<Pointer> arguments = new PointerPointer<>(Math.max(1L, options.size()));
        SizeTPointer bytes = new SizeTPointer(1)) {
      for (int i = 0; i < options.size(); i++) {
        texts.add(new BytePointer(options.get(i), StandardCharsets.UTF_8));
        arguments.put(i, texts.get(i));
      }
      CudaCheck.compiler(
          nvrtc.nvrtcCreateProgram(
              program, sourceText, nameText, 0, (PointerPointer<?>) null, (PointerPointer<?>) null),
          "nvrtcCreateProgram",
          "");
      int result = nvrtc.nvrtcCompileProgram(program, options.size(), arguments);
      CudaCheck.compiler(result, "nvrtcCompileProgram of " + name, log(program, bytes));
      size.ask(program, bytes);
      try (BytePointer out = new BytePointer(bytes.get())) {
        code.ask(program, out);
        byte[] copy = new byte[(int) bytes.get()];
        out.get(copy);
        return copy;
      }
    } finally {
      texts.forEach(BytePointer::close);
      if (!program.isNull()) {
        nvrtc.nvrtcDestroyProgram(program);
      }
    }
  }

  private static String log(_nvrtcProgram program, SizeTPointer bytes) {
    CudaCheck.compiler(nvrtc.nvrtcGetProgramLogSize(program, bytes), "nvrtcGetProgramLogSize", "");
    try (BytePointer text = new BytePointer(Math.max(1, bytes.get()))) {
      CudaCheck.compiler(nvrtc.nvrtcGetProgramLog(program, text), "nvrtcGetProgramLog", "");
      return text.getString(StandardCharsets.UTF_8);
    }
  }

  /** Asks for the size of what was compiled. */
  @FunctionalInterface
  private interface SizeCall {
    void ask(_nvrtcProgram program, SizeTPointer size);
  }

  /** Asks for what was compiled. */
  @FunctionalInterface
  private interface CodeCall {
    void ask(_nvrtcProgram program, BytePointer code);
  }
}
