// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import java.util.function.Function;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * One setting.
 *
 * @param name the full key
 * @param type what its text is, for the documentation
 * @param defaultText the text used when the user gives none
 * @param doc one or two sentences
 * @param parser from text to value; throws IllegalArgumentException with the broken relation
 * @param <T> the value's type
 */
public record ConfigKey<T>(
    String name, String type, String defaultText, String doc, Function<String, T> parser) {
  /**
   * The value of this key.
   *
   * @param source where the user's text may be
   * @return the user's value or the default
   * @throws CollectiveException INVALID_CONFIG naming key, text and what is wrong
   */
  public T of(ConfigSource source) {
    String text = source.value(name);
    String given = text == null ? defaultText : text.trim();
    try {
      return parser.apply(given);
    } catch (IllegalArgumentException | CollectiveException e) {
      throw new CollectiveException(
          ErrorCode.INVALID_CONFIG, name + "=" + given + ": " + e.getMessage(), e);
    }
  }
}
