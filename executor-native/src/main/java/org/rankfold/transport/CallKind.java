// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

/** The collective calls. */
public enum CallKind {
  /** Every task receives the fold of all addends. */
  ALL_REDUCE("all_reduce"),
  /** Every logical rank receives its part of the fold. */
  REDUCE_SCATTER("reduce_scatter"),
  /** Every task receives the rows of all logical ranks. */
  ALL_GATHER("all_gather"),
  /** Every task receives the root's elements. */
  BROADCAST("broadcast"),
  /** Nobody returns before everybody called. */
  BARRIER("barrier");

  private final String label;

  CallKind(String label) {
    this.label = label;
  }

  /**
   * The name used in messages and logs.
   *
   * @return for example {@code all_reduce}
   */
  public String label() {
    return label;
  }
}
