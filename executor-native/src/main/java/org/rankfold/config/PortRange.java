// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

/**
 * The ports that a socket may be bound to.
 *
 * @param first the first port, or 0 for any
 * @param last the last port; 0 when first is
 */
public record PortRange(int first, int last) {
  private static final int HIGHEST = 65_535;

  /**
   * A checked range.
   *
   * @param first from 0
   * @param last from first to 65535, and 0 when first is
   */
  public PortRange {
    if (first < 0 || last < first || last > HIGHEST || (first == 0 && last != 0)) {
      throw new IllegalArgumentException("is not a port from 0 to 65535 or a range of them");
    }
  }

  static PortRange parse(String text) {
    String[] ends = text.split("-", 2);
    try {
      int first = Integer.parseInt(ends[0].trim());
      return new PortRange(first, ends.length == 1 ? first : Integer.parseInt(ends[1].trim()));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("is not a port or a range such as 4000-4100", e);
    }
  }
}
