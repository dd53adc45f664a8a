// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CudaProbeTest {
  /**
   * In a process of its own: this one may have been given a stand-in for the driver by tests of
   * compiled code, and a process is asked once.
   */
  @Test
  void shouldSayWhyNotAndWhatToInstallWhenCudaCannotBeUsed() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                HostOnly.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    if (said.contains("devices=")) {
      assertThat(said).contains("sm_");
      return;
    }
    assertThat(said)
        .contains("3.0 CUDA cannot be used: ")
        .contains("Found: ")
        .contains("libcuda.so.1")
        .contains("org.bytedeco:cuda")
        .contains("UNSUPPORTED CUDA cannot be used: ");
  }

  @Test
  void shouldFoldOnTheHostAndRefuseDevicesWhenJavaCppIsMissing() throws Exception {
    List<URL> withoutJavaCpp = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!new File(entry).getName().matches("(javacpp|cuda).*\\.jar")) {
        withoutJavaCpp.add(new File(entry).toURI().toURL());
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(
            withoutJavaCpp.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Class<?> host = loader.loadClass("org.rankfold.cuda.HostOnly");
      assertThat(host.getClassLoader()).isSameAs(loader);
      assertThat((String) host.getMethod("foldAndProbe").invoke(null))
          .startsWith("3.0 CUDA cannot be used: a library does not load: ")
          .contains("org.bytedeco");
    }
  }
}
