// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.fold.cuda.FoldCode;

/** The CUDA source that travels with this jar: the fold's, with the barriers behind it. */
final class PeerSource {
  private PeerSource() {}

  static String text() {
    try (InputStream bytes = PeerSource.class.getResourceAsStream("peer.cu")) {
      if (bytes == null) {
        throw new IllegalStateException("this jar lacks org/rankfold/peer/cuda/peer.cu");
      }
      return FoldCode.source() + new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> options(FoldCode code, boolean isMovement, String architecture) {
    List<String> options = new ArrayList<>(code.options(architecture));
    options.add("-DRF_PARTIAL");
    if (isMovement) {
      options.add("-DRF_MOVE");
    }
    return options;
  }
}
