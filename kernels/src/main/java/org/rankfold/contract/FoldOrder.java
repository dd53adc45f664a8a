// SPDX-License-Identifier: Apache-2.0
package org.rankfold.contract;

/** The order in which the addends of an element meet. */
public enum FoldOrder {
  /** ((x0 + x1) + x2) + ...: ascending logical ranks, from the first addend. The default. */
  RANK_LEFT("left"),
  /**
   * fold(lo, hi) = fold(lo, mid) + fold(mid, hi), mid = lo + the largest power of two below hi -
   * lo.
   */
  RANK_TREE("tree");

  private final String label;

  FoldOrder(String label) {
    this.label = label;
  }

  /**
   * The lower-case name used in ids, commands and logs.
   *
   * @return {@code left} or {@code tree}
   */
  public String label() {
    return label;
  }

  /**
   * The order of a label.
   *
   * @param label as {@link #label()} gives it
   * @return the order
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT when there is none
   */
  public static FoldOrder ofLabel(String label) {
    return Labels.find(values(), FoldOrder::label, label, "order");
  }
}
