// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;

class NcclLibraryTest {
  @Test
  void shouldAcceptTheOldestVersionWhenItIsFound() {
    NcclLibrary library = NcclLibrary.judge(22_600, List.of("/usr/lib/libnccl.so.2"));
    assertThat(library.isAvailable()).isTrue();
    assertThat(library.reason()).isEmpty();
    assertThat(library.require().version()).isEqualTo(22_600);
    assertThat(library.describe()).isEqualTo("NCCL 2.26.0 (/usr/lib/libnccl.so.2)");
  }

  @Test
  void shouldNameWhatWasFoundWhereAndWhatToInstallWhenTheVersionIsTooOld() {
    NcclLibrary library = NcclLibrary.judge(22_507, List.of("/opt/libnccl.so.2.25.7"));
    assertThat(library.isAvailable()).isFalse();
    assertThatThrownBy(library::require)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("version 2.25.7 is older than 2.26.0")
        .hasMessageContaining("Found: NCCL 2.25.7 (/opt/libnccl.so.2.25.7), LD_LIBRARY_PATH=")
        .hasMessageContaining("libnccl2")
        .hasMessageContaining("spark.executorEnv.LD_LIBRARY_PATH");
  }

  @Test
  void shouldReadVersionsAsNcclCountsThem() {
    assertThat(NcclLibrary.dotted(22_809)).isEqualTo("2.28.9");
    assertThat(NcclLibrary.dotted(23_007)).isEqualTo("2.30.7");
    assertThat(NcclLibrary.dotted(2_804)).isEqualTo("2.8.4");
  }

  /** In a process of its own, since a process is asked once. */
  @Test
  void shouldSayWhyNotWhenNcclCannotBeUsed() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Asks.class.getName())
            // The JVM's own warnings go there.
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    if (!said.startsWith("NCCL 2.")) {
      assertThat(said)
          .startsWith("NCCL cannot be used")
          .contains("Found: ")
          .contains("UNSUPPORTED NCCL cannot be used");
    }
  }

  @Test
  void shouldSayWhyNotWhenJavaCppIsMissing() throws Exception {
    List<URL> withoutJavaCpp = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!new File(entry).getName().matches("(javacpp|cuda).*\\.jar")) {
        withoutJavaCpp.add(new File(entry).toURI().toURL());
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(
            withoutJavaCpp.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Class<?> asks = loader.loadClass(Asks.class.getName());
      assertThat(asks.getClassLoader()).isSameAs(loader);
      assertThat((String) asks.getMethod("answer").invoke(null))
          .startsWith("NCCL cannot be used")
          .contains("org.bytedeco");
    }
  }

  /** What a process says of NCCL: run by name in a class loader or process of its own. */
  public static final class Asks {
    private Asks() {}

    /** Prints the answer, then what asking for an id brings. */
    public static void main(String[] args) {
      System.out.println(answer());
      try {
        NcclExchange.forget(NcclExchange.uniqueId());
      } catch (CollectiveException e) {
        System.out.println(e.code() + " " + e.getMessage());
      }
    }

    /** The version found, or the reason. */
    public static String answer() {
      NcclLibrary library = NcclLibrary.process();
      return library.isAvailable() ? library.describe() : library.reason();
    }
  }
}
