// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.rankfold.cuda.Nvrtc;

/**
 * Lets tests of compiled code run where there is no CUDA. The compiler itself needs no driver, but
 * the glue around it wants a libcuda.so.1 to open; where there is none, one is made that answers
 * every question with "stub library", as the toolkit's own does.
 */
public final class Compiler {
  private static final String STUB =
      """
      int cuInit(unsigned flags) { return 34; }
      int cuGetErrorName(int code, const char **name) { *name = "STUB"; return 0; }
      int cuGetErrorString(int code, const char **text) { *text = "made by a test"; return 0; }
      """;

  private Compiler() {}

  /** Returns when the compiler works; else ends the test, as skipped or failed. */
  public static void require() {
    String reason = Answer.REASON;
    if (reason == null) {
      return;
    }
    if (Boolean.getBoolean("rankfold.nvrtc.required")) {
      fail("rankfold.nvrtc.required, but " + reason);
    }
    System.out.println("SKIPPED: " + reason);
    Assumptions.abort(reason);
  }

  /** Once a process. */
  private static final class Answer {
    static final String REASON = reason();

    private static String reason() {
      try {
        if (!hasDriver()) {
          System.load(stub().toString());
        }
        System.out.println("NVRTC " + Nvrtc.version());
        return null;
      } catch (LinkageError | IOException e) {
        return "no NVRTC, which -Pnvrtc fetches: " + e;
      }
    }
  }

  private static boolean hasDriver() throws IOException {
    Process ldconfig = new ProcessBuilder("ldconfig", "-p").redirectErrorStream(true).start();
    String known = new String(ldconfig.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return known.contains("libcuda.so.1")
        || Stream.of(System.getProperty("java.library.path").split(":", -1))
            .anyMatch(folder -> Files.exists(Path.of(folder, "libcuda.so.1")));
  }

  private static Path stub() throws IOException {
    Path folder = Files.createTempDirectory("rankfold-libcuda-stub-");
    Path library = folder.resolve("libcuda.so.1");
    Path source = Files.writeString(folder.resolve("stub.c"), STUB);
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libcuda.so.1",
                "-o",
                library.toString(),
                source.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!Files.exists(library)) {
      throw new IOException("gcc made no libcuda stub: " + said);
    }
    return library;
  }
}
