// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigDocTest {
  @Test
  void shouldFindTheDocumentationAsTheKeysSayWhenItWasNotForgotten() throws IOException {
    Path page = Path.of(System.getProperty("rankfold.root"), "docs", "configuration.md");
    if (Boolean.getBoolean("rankfold.write")) {
      Files.writeString(page, ConfigDoc.markdown());
    }
    assertEquals(ConfigDoc.markdown(), Files.readString(page));
  }
}
