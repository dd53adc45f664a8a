// SPDX-License-Identifier: Apache-2.0
package org.rankfold.contract;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * All that fixes the bits of a reduction: two reductions of equal addends under equal contracts
 * have equal bits, whatever moved the bytes. Specified in docs/spec/reduce-contract.md.
 *
 * @param dtype the element type
 * @param op what is done with two addends
 * @param order the order in which addends meet
 * @param world the number of logical ranks, at least 1: one addend each
 */
public record ReduceContract(DType dtype, ReduceOp op, FoldOrder order, int world) {
  /** The version of the rules; it changes when any bit of any result would. */
  public static final int VERSION = 1;

  /**
   * A checked contract.
   *
   * @param dtype the element type
   * @param op what is done with two addends
   * @param order the order in which addends meet
   * @param world the number of logical ranks
   * @throws CollectiveException INVALID_WORLD for a world below 1; UNDEFINED_OPERATION for a MEAN
   *     of integers
   */
  public ReduceContract {
    Objects.requireNonNull(dtype, "dtype");
    Objects.requireNonNull(op, "op");
    Objects.requireNonNull(order, "order");
    if (world < 1) {
      throw CollectiveException.usage(ErrorCode.INVALID_WORLD, "world=%d < 1", world);
    }
    if (op == ReduceOp.MEAN && !dtype.isFloating()) {
      throw CollectiveException.usage(
          ErrorCode.UNDEFINED_OPERATION, "op=mean is not defined for dtype=%s", dtype.label());
    }
  }

  /**
   * The contract as text, the same on every platform.
   *
   * @return for example {@code rankfold/1:f32:sum:left:8}
   */
  public String id() {
    return "rankfold/"
        + VERSION
        + ":"
        + dtype.label()
        + ":"
        + op.label()
        + ":"
        + order.label()
        + ":"
        + world;
  }

  /**
   * The first eight bytes, big-endian, of the SHA-256 of {@link #id()} in UTF-8: what headers
   * carry.
   *
   * @return the digest
   */
  public long digest() {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(id().getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(hash).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
