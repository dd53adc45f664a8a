// SPDX-License-Identifier: Apache-2.0
package org.rankfold.contract;

/** What a fold does with two addends. */
public enum ReduceOp {
  /** IEEE 754 addition in the accumulator type, or wrapping integer addition. */
  SUM("sum"),
  /**
   * SUM, then one multiplication by 1/L rounded to the accumulator type, before the final rounding
   * of halves. Not defined for integers.
   */
  MEAN("mean"),
  /** IEEE 754-2019 minimum: a NaN wins, -0.0 is below +0.0. */
  MIN("min"),
  /** IEEE 754-2019 maximum: a NaN wins, -0.0 is below +0.0. */
  MAX("max");

  private final String label;

  ReduceOp(String label) {
    this.label = label;
  }

  /**
   * The lower-case name used in ids, commands and logs.
   *
   * @return for example {@code sum}
   */
  public String label() {
    return label;
  }

  /**
   * The operation of a label.
   *
   * @param label as {@link #label()} gives it
   * @return the operation
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT when there is none
   */
  public static ReduceOp ofLabel(String label) {
    return Labels.find(values(), ReduceOp::label, label, "op");
  }
}
