// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class ConfigKeysTest {
  @Test
  void shouldAcceptItsOwnDefaultWhenNothingIsSet() {
    Set<String> names = new HashSet<>();
    for (ConfigKey<?> key : ConfigKeys.all()) {
      key.of(name -> null);
      assertTrue(key.name().startsWith("spark.rankfold."), key.name());
      assertTrue(names.add(key.name()), key.name() + " is declared twice");
    }
  }

  @ParameterizedTest
  @CsvSource({"500ms,500000000", "30s,30000000000", "7,7000000000", "2min,120000000000"})
  void shouldReadDurationsWhenWrittenAsSparkDoes(String text, long expectedNs) {
    assertEquals(expectedNs, ConfigKeys.COLLECTIVE_TIMEOUT.of(source(text)));
  }

  @ParameterizedTest
  @CsvSource({"4096,4096", "256k,262144", "1M,1048576", "1g,1073741824"})
  void shouldReadSizesWhenWrittenAsSparkDoes(String text, int expectedBytes) {
    assertEquals(
        expectedBytes,
        ConfigKeys.CHUNK_BYTES.of(ConfigSource.of(Map.of("spark.rankfold.chunk.bytes", text))));
  }

  @ParameterizedTest
  @CsvSource({"0s", "-1s", "soon", "5 fortnights", "''"})
  void shouldNameKeyAndTextWhenADurationIsNone(String text) {
    CollectiveException e =
        assertThrows(
            CollectiveException.class, () -> ConfigKeys.COLLECTIVE_TIMEOUT.of(source(text)));
    assertEquals(ErrorCode.INVALID_CONFIG, e.code());
    assertTrue(
        e.getMessage().startsWith("spark.rankfold.timeout.collective=" + text + ": "),
        e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"0", "2g", "9999999999", "1x"})
  void shouldRefuseASizeWhenItIsOutOfRange(String text) {
    ConfigSource source = ConfigSource.of(Map.of("spark.rankfold.chunk.bytes", text));
    assertThrows(CollectiveException.class, () -> ConfigKeys.CHUNK_BYTES.of(source));
  }

  @Test
  void shouldNameTheRowWhenATableOfPathsHasOneThatIsNone() {
    ConfigSource source =
        ConfigSource.of(Map.of("spark.rankfold.peer.paths", "one_shot:64k,shipped:1m"));
    CollectiveException e =
        assertThrows(CollectiveException.class, () -> ConfigKeys.PEER_PATHS.of(source));
    assertEquals(ErrorCode.INVALID_CONFIG, e.code());
    assertTrue(e.getMessage().contains("\"shipped:1m\" is no row"), e.getMessage());
    ConfigSource right = ConfigSource.of(Map.of("spark.rankfold.peer.paths", "one_shot:64k"));
    assertEquals("one_shot:64k", ConfigKeys.PEER_PATHS.of(right));
  }

  @Test
  void shouldListTheKnownWordsWhenAWordIsUnknown() {
    ConfigSource source = ConfigSource.of(Map.of("spark.rankfold.path", "fast"));
    CollectiveException e =
        assertThrows(CollectiveException.class, () -> ConfigKeys.PATH.of(source));
    assertEquals(
        "spark.rankfold.path=fast: is none of: auto, mapped, staged, mixed", e.getMessage());
  }

  private static ConfigSource source(String timeout) {
    return ConfigSource.of(Map.of("spark.rankfold.timeout.collective", timeout));
  }
}
