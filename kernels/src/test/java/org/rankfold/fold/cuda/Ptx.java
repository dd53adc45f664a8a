// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.util.List;
import java.util.regex.Pattern;

/** What may not stand in the PTX of a fold. */
public final class Ptx {
  /** Contracted, flushing or atomic. */
  private static final Pattern FORBIDDEN =
      Pattern.compile("\\b(fma|mad)\\.\\S*f\\d+|\\.ftz\\b|\\b(atom|red)\\.|\\.approx\\b");

  /**
   * Sums and products of floating-point numbers that don't say how they round: those may be
   * contracted by the next compiler.
   */
  private static final Pattern UNROUNDED =
      Pattern.compile("\\b(add|sub|mul)\\.(?!rn\\.)(\\S*\\.)?(f32|f64|f16|bf16)\\S*");

  private Ptx() {}

  /** The lines that a fold must not have. */
  public static List<String> offences(String ptx) {
    return ptx.lines()
        .map(String::strip)
        .filter(line -> !line.startsWith("//") && !line.startsWith("."))
        .filter(line -> FORBIDDEN.matcher(line).find() || UNROUNDED.matcher(line).find())
        .toList();
  }

  /** How many lines hold an instruction that begins so. */
  public static long count(String ptx, String instruction) {
    return ptx.lines().map(String::strip).filter(line -> line.startsWith(instruction)).count();
  }
}
