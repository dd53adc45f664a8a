// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import java.util.Map;

/** Where settings come from: the seam that keeps the executor free of Spark. */
@FunctionalInterface
public interface ConfigSource {
  /**
   * The text a user gave for a key.
   *
   * @param key a key's name
   * @return the text, or null when the user gave none
   */
  String value(String key);

  /**
   * Settings in a map.
   *
   * @param values by key name; copied
   * @return the source
   */
  static ConfigSource of(Map<String, String> values) {
    Map<String, String> copy = Map.copyOf(values);
    return copy::get;
  }
}
