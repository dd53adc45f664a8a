// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class CudaProbeTest {
  @Test
  void shouldSayWhyNotAndWhatToInstallWhenCudaCannotBeUsed() {
    CudaProbe probe = CudaProbe.process();
    if (probe.isAvailable()) {
      assertThat(probe.reason()).isEmpty();
      assertThat(probe.devices()).isNotEmpty();
      return;
    }
    assertThat(probe.reason())
        .startsWith("CUDA cannot be used: ")
        .contains("Found: ")
        .contains("libcuda.so.1")
        .contains("org.bytedeco:cuda");
    assertThat(probe.devices()).isEmpty();
    assertThatThrownBy(() -> CudaDevice.of(0))
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED);
              assertThat(e).hasMessage(probe.reason());
            });
  }

  @Test
  void shouldFoldOnTheHostAndRefuseDevicesWhenJavaCppIsMissing() throws Exception {
    List<URL> withoutJavaCpp = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
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
