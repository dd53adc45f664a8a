// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Which path an all-reduce takes, by its size: a step function with a row for each path, in order.
 * All ranks of a group use equal tables, or their calls do not meet. The bits are the same on both
 * sides of every cut-over. Immutable.
 */
public final class PathTable {
  /**
   * One row.
   *
   * @param mostBytes the largest payload of one rank that takes the path
   * @param path the path
   */
  public record Row(long mostBytes, PeerPath path) {}

  /**
   * Two ranks over NVLink: pushing whole operands wins up to 4 MiB (measured on two H200 by the
   * spike that DESIGN's numbers come from). With more ranks each pushes to all of them, so the
   * operand that may be pushed shrinks alike: reckoned, not measured.
   */
  private static final long ONE_SHOT_BYTES_FOR_TWO = 4L << 20;

  private final List<Row> rows;

  private PathTable(List<Row> rows) {
    this.rows = List.copyOf(rows);
  }

  /**
   * A table of rows.
   *
   * @param rows by ascending size; a payload larger than the last row's is STAGED
   * @return the table
   * @throws CollectiveException INVALID_CONFIG when sizes do not ascend
   */
  public static PathTable of(List<Row> rows) {
    for (int i = 1; i < rows.size(); i++) {
      if (rows.get(i).mostBytes() <= rows.get(i - 1).mostBytes()) {
        throw new CollectiveException(
            ErrorCode.INVALID_CONFIG,
            "row "
                + i
                + " mostBytes="
                + rows.get(i).mostBytes()
                + " <= row "
                + (i - 1)
                + " mostBytes="
                + rows.get(i - 1).mostBytes());
      }
    }
    return new PathTable(rows);
  }

  /**
   * A table as users write it: {@code one_shot:64k,mapped:256m}; sizes ascend, a last row without a
   * size has no limit, and a payload larger than the last row's is STAGED.
   *
   * @param text rows, separated by commas; {@code staged} alone is the empty table
   * @return the table
   * @throws CollectiveException INVALID_CONFIG with the row that is none
   */
  public static PathTable parse(String text) {
    List<Row> rows = new ArrayList<>();
    for (String part : text.strip().split(",", -1)) {
      String[] row = part.strip().split(":", -1);
      switch (row[0]) {
        case "one_shot" -> rows.add(new Row(mostBytes(row, part), PeerPath.ONE_SHOT));
        case "mapped" -> rows.add(new Row(mostBytes(row, part), PeerPath.MAPPED));
        case "staged" -> {
          if (row.length > 1 || !text.strip().endsWith(part.strip())) {
            throw noRow(part);
          }
        }
        default -> throw noRow(part);
      }
    }
    return of(rows);
  }

  private static long mostBytes(String[] row, String part) {
    if (row.length == 1) {
      return Long.MAX_VALUE;
    }
    if (row.length > 2 || !row[1].matches("[0-9]{1,15}[kmg]?")) {
      throw noRow(part);
    }
    String digits = row[1].replaceAll("[kmg]", "");
    int shift = "kmg".indexOf(row[1].charAt(row[1].length() - 1)) + 1;
    return Long.parseLong(digits) << (10 * shift);
  }

  private static CollectiveException noRow(String part) {
    return new CollectiveException(
        ErrorCode.INVALID_CONFIG,
        "\"" + part + "\" is no row: one_shot:SIZE, mapped:SIZE, or staged as the last");
  }

  /**
   * The table for ranks that meet by events, which any size takes alike.
   *
   * @return MAPPED without limit
   */
  public static PathTable ofEvents() {
    return of(List.of(new Row(Long.MAX_VALUE, PeerPath.MAPPED)));
  }

  /**
   * The largest payload that is pushed whole.
   *
   * @return bytes, 0 when none is
   */
  public long mostOneShotBytes() {
    return rows.stream()
        .filter(row -> row.path() == PeerPath.ONE_SHOT)
        .mapToLong(Row::mostBytes)
        .max()
        .orElse(0);
  }

  /**
   * The table for ranks that all reach one another over NVLink.
   *
   * @param ranks how many, at least 1
   * @return ONE_SHOT, then MAPPED without limit
   */
  public static PathTable ofNvlink(int ranks) {
    long oneShot = ONE_SHOT_BYTES_FOR_TWO / Math.max(1, ranks - 1);
    return of(
        List.of(new Row(oneShot, PeerPath.ONE_SHOT), new Row(Long.MAX_VALUE, PeerPath.MAPPED)));
  }

  /**
   * The path of a payload.
   *
   * @param bytes one rank's operand
   * @return the first row's that it fits, else STAGED
   */
  public PeerPath path(long bytes) {
    for (Row row : rows) {
      if (bytes <= row.mostBytes()) {
        return row.path();
      }
    }
    return PeerPath.STAGED;
  }

  @Override
  public String toString() {
    return rows.toString();
  }
}
