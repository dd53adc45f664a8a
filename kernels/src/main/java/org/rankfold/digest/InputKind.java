// SPDX-License-Identifier: Apache-2.0
package org.rankfold.digest;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** The kinds of generated inputs; each shows another sort of wrong fold. */
public enum InputKind {
  /** Evenly spread over [-1, 1). */
  UNIFORM("uniform"),
  /** Random sign and fraction, exponents far apart: the order of additions shows. */
  SPREAD("spread"),
  /** Raw random bits: NaNs, infinities, subnormal numbers; the only kind of integers. */
  BITS("bits"),
  /** Sixteen awkward values: signed zeros, subnormal sums, kinds of NaN, ties. */
  EDGE("edge"),
  /** Large and small in threes over the ranks: the order shows in every type. */
  CANCEL("cancel");

  private final String label;

  InputKind(String label) {
    this.label = label;
  }

  /**
   * The lower-case name used in commands and tables.
   *
   * @return for example {@code spread}
   */
  public String label() {
    return label;
  }

  /**
   * The kind of a label.
   *
   * @param label as {@link #label()} gives it
   * @return the kind
   * @throws CollectiveException INVALID_ARGUMENT when there is none
   */
  public static InputKind ofLabel(String label) {
    for (InputKind kind : values()) {
      if (kind.label.equals(label)) {
        return kind;
      }
    }
    throw CollectiveException.usage(
        ErrorCode.INVALID_ARGUMENT,
        "kind=%s is none of: %s",
        label,
        Arrays.stream(values()).map(InputKind::label).collect(Collectors.joining(", ")));
  }
}
