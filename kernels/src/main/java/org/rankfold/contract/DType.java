// SPDX-License-Identifier: Apache-2.0
package org.rankfold.contract;

/** The element types a collective moves and folds; all are stored little-endian. */
public enum DType {
  /** IEEE 754 binary32, a {@code float} each; folded in f32. */
  F32("f32", 4, true),
  /** IEEE 754 binary64, a {@code double} each; folded in f64. */
  F64("f64", 8, true),
  /** IEEE 754 binary16 in a {@code short} each; widened to f32, folded there, rounded once. */
  F16("f16", 2, true),
  /** bfloat16 in a {@code short} each; widened to f32, folded there, rounded once. */
  BF16("bf16", 2, true),
  /** Two's-complement 32-bit integers, an {@code int} each; sums wrap. */
  I32("i32", 4, false),
  /** Two's-complement 64-bit integers, a {@code long} each; sums wrap. */
  I64("i64", 8, false);

  private final String label;
  private final int bytes;
  private final boolean floating;

  DType(String label, int bytes, boolean floating) {
    this.label = label;
    this.bytes = bytes;
    this.floating = floating;
  }

  /**
   * The lower-case name used in ids, commands and logs.
   *
   * @return for example {@code bf16}
   */
  public String label() {
    return label;
  }

  /**
   * The size of an element.
   *
   * @return bytes
   */
  public int bytes() {
    return bytes;
  }

  /**
   * Whether elements are floating-point numbers.
   *
   * @return false for i32 and i64
   */
  public boolean isFloating() {
    return floating;
  }

  /**
   * Whether elements are 16-bit floating-point numbers held in {@code short}s.
   *
   * @return true for f16 and bf16
   */
  public boolean isHalf() {
    return floating && bytes == 2;
  }

  /**
   * The type of a label.
   *
   * @param label as {@link #label()} gives it
   * @return the type
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT when there is none
   */
  public static DType ofLabel(String label) {
    return Labels.find(values(), DType::label, label, "dtype");
  }
}
