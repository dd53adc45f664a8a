// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parsers of the texts that settings are written in, as Spark writes them. */
final class ConfigText {
  private static final Pattern AMOUNT = Pattern.compile("(\\d{1,15})\\s*([a-z]*)");

  private ConfigText() {}

  /** A duration such as {@code 500ms}, {@code 30s}, {@code 10min}; in nanoseconds, above zero. */
  static long durationNs(String text) {
    Matcher amount = amount(text, "a duration such as 500ms, 30s, 10min");
    TimeUnit unit =
        switch (amount.group(2)) {
          case "us" -> TimeUnit.MICROSECONDS;
          case "ms" -> TimeUnit.MILLISECONDS;
          case "s", "" -> TimeUnit.SECONDS;
          case "m", "min" -> TimeUnit.MINUTES;
          case "h" -> TimeUnit.HOURS;
          default -> throw new IllegalArgumentException("unit is none of: us, ms, s, min, h");
        };
    long ns = unit.toNanos(Long.parseLong(amount.group(1)));
    if (ns <= 0) {
      throw new IllegalArgumentException("a duration must be above 0");
    }
    return ns;
  }

  /** A size such as {@code 64k}, {@code 1m}; in bytes, from 1 to 1 GiB. */
  static int sizeBytes(String text) {
    Matcher amount = amount(text, "a size such as 4096, 256k, 1m");
    long unit =
        switch (amount.group(2)) {
          case "", "b" -> 1L;
          case "k", "kb" -> 1L << 10;
          case "m", "mb" -> 1L << 20;
          case "g", "gb" -> 1L << 30;
          default -> throw new IllegalArgumentException("unit is none of: b, k, m, g");
        };
    long number = Long.parseLong(amount.group(1));
    if (number < 1 || number > (1L << 30) / unit) {
      throw new IllegalArgumentException("a size must be from 1 byte to 1 GiB");
    }
    return (int) (number * unit);
  }

  /** An absolute path such as {@code /dev/shm}. */
  static Path folder(String text) {
    try {
      Path folder = Path.of(text);
      if (folder.isAbsolute()) {
        return folder;
      }
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("is not an absolute path", e);
    }
    throw new IllegalArgumentException("is not an absolute path");
  }

  /** A number such as {@code 42} or {@code -7}. */
  static long wholeNumber(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("is not a whole 64-bit number", e);
    }
  }

  /** A number such as {@code 3}, from 0 to a bound. */
  static int count(String text, int most) {
    long number = wholeNumber(text);
    if (number < 0 || number > most) {
      throw new IllegalArgumentException("is not from 0 to " + most);
    }
    return (int) number;
  }

  /** One of the given words. */
  static Function<String, String> oneOf(String... words) {
    List<String> known = List.of(words);
    return text -> {
      if (!known.contains(text)) {
        throw new IllegalArgumentException("is none of: " + String.join(", ", known));
      }
      return text;
    };
  }

  /** {@code true} or {@code false}. */
  static Boolean flag(String text) {
    return switch (text) {
      case "true" -> Boolean.TRUE;
      case "false" -> Boolean.FALSE;
      default -> throw new IllegalArgumentException("is neither true nor false");
    };
  }

  private static Matcher amount(String text, String what) {
    Matcher matcher = AMOUNT.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException("is not " + what);
    }
    return matcher;
  }
}
