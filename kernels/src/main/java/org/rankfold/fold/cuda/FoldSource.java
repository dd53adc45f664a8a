// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The CUDA source that travels with this jar. */
final class FoldSource {
  private FoldSource() {}

  static String text() {
    try (InputStream bytes = FoldSource.class.getResourceAsStream("fold.cu")) {
      if (bytes == null) {
        throw new IllegalStateException("this jar lacks org/rankfold/fold/cuda/fold.cu");
      }
      return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
