// SPDX-License-Identifier: Apache-2.0
package org.rankfold.digest;

import java.util.Objects;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * One known answer: the digest of one reduction of generated inputs.
 *
 * @param contract what fixes the bits
 * @param kind the inputs, see {@link OracleInputs}
 * @param n elements, at least 0
 * @param seed the inputs' seed
 * @param sha256 the digest of the result, see {@link BitDigest}
 */
public record GoldenRow(ReduceContract contract, InputKind kind, long n, long seed, String sha256) {
  /** The columns, in order, as the table's first line has them. */
  public static final String HEADER = "dtype\top\torder\tkind\tworld\tn\tseed\tsha256";

  /**
   * A checked row.
   *
   * @param contract what fixes the bits
   * @param kind the inputs
   * @param n elements
   * @param seed the inputs' seed
   * @param sha256 the digest of the result
   */
  public GoldenRow {
    Objects.requireNonNull(contract, "contract");
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(sha256, "sha256");
  }

  /**
   * Reads a line of the table.
   *
   * @param line eight columns separated by tabs, in the order of {@link #HEADER}
   * @return the row
   * @throws CollectiveException INVALID_ARGUMENT when a column is missing or malformed
   */
  public static GoldenRow parse(String line) {
    String[] column = line.split("\t", -1);
    if (column.length != 8) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "columns=%d != 8 in: %s", column.length, line);
    }
    try {
      return new GoldenRow(
          new ReduceContract(
              DType.ofLabel(column[0]),
              ReduceOp.ofLabel(column[1]),
              FoldOrder.ofLabel(column[2]),
              Integer.parseInt(column[4])),
          InputKind.ofLabel(column[3]),
          Long.parseLong(column[5]),
          Long.parseUnsignedLong(column[6]),
          column[7]);
    } catch (NumberFormatException e) {
      throw new CollectiveException(
          ErrorCode.INVALID_ARGUMENT, "world, n or seed is not a number in: " + line, e);
    }
  }

  /**
   * The row without its answer, as {@code digest} prints it.
   *
   * @return for example {@code dtype=f32 op=sum order=left kind=spread world=5 n=4097 seed=42}
   */
  public String describe() {
    return "dtype="
        + contract.dtype().label()
        + " op="
        + contract.op().label()
        + " order="
        + contract.order().label()
        + " kind="
        + kind.label()
        + " world="
        + contract.world()
        + " n="
        + n
        + " seed="
        + Long.toUnsignedString(seed);
  }
}
