// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * What a call is: alike on all ranks, or their barrier words differ and every rank refuses.
 *
 * @param kind what it does
 * @param contract what fixes the bits; of movement only the world counts
 * @param dtype the elements' type
 * @param count elements of the whole operand; of an all-gather's row
 * @param root the logical rank that a broadcast comes from, else 0
 */
public record PeerCall(PeerKind kind, ReduceContract contract, DType dtype, long count, int root) {
  /**
   * A checked call.
   *
   * @param kind what it does
   * @param contract what fixes the bits
   * @param dtype the elements' type
   * @param count elements
   * @param root the logical rank of a broadcast
   * @throws CollectiveException INVALID_ARGUMENT for a negative count, a root outside the world, or
   *     a reduce-scatter whose count is no multiple of the world
   */
  public PeerCall {
    if (count < 0 || root < 0 || root >= contract.world()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "count=%d root=%d of world=%d",
          count,
          root,
          contract.world());
    }
    if (kind == PeerKind.REDUCE_SCATTER && count % contract.world() != 0) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "count=%d is no multiple of world=%d",
          count,
          contract.world());
    }
  }

  /**
   * An all-reduce.
   *
   * @param contract what fixes the bits
   * @param count elements of every addend and of the result
   * @return the call
   */
  public static PeerCall allReduce(ReduceContract contract, long count) {
    return new PeerCall(PeerKind.ALL_REDUCE, contract, contract.dtype(), count, 0);
  }

  /**
   * A reduce-scatter: logical rank l's part is elements [l, l + 1) * count / world.
   *
   * @param contract what fixes the bits
   * @param count elements of every addend, a multiple of the world
   * @return the call
   */
  public static PeerCall reduceScatter(ReduceContract contract, long count) {
    return new PeerCall(PeerKind.REDUCE_SCATTER, contract, contract.dtype(), count, 0);
  }

  /**
   * An all-gather.
   *
   * @param dtype the elements' type
   * @param world logical ranks, one row each
   * @param count elements of a row
   * @return the call
   */
  public static PeerCall allGather(DType dtype, int world, long count) {
    return new PeerCall(PeerKind.ALL_GATHER, movement(world), dtype, count, 0);
  }

  /**
   * A broadcast.
   *
   * @param dtype the elements' type
   * @param world logical ranks
   * @param root the one whose elements all get
   * @param count elements
   * @return the call
   */
  public static PeerCall broadcast(DType dtype, int world, int root, long count) {
    return new PeerCall(PeerKind.BROADCAST, movement(world), dtype, count, root);
  }

  /** Movement adds nothing: which code of its world's is compiled does not matter. */
  static ReduceContract movement(int world) {
    return new ReduceContract(DType.I32, ReduceOp.SUM, FoldOrder.RANK_LEFT, world);
  }

  /** The operand's size. */
  long bytes() {
    return count * dtype.bytes();
  }

  /** As text, the same on every rank and platform. */
  String id() {
    return kind.isMovement()
        ? String.format(
            Locale.ROOT,
            "%s:%s:%d:count=%d:root=%d",
            kind.label(),
            dtype.label(),
            contract.world(),
            count,
            root)
        : contract.id() + ":" + kind.label() + ":count=" + count;
  }

  /**
   * The first four bytes, big-endian, of the SHA-256 of the id and of how blocks share the work.
   */
  int hash(int ranks, PeerPath path, int blocks, long chunk) {
    String all = id() + ":ranks=" + ranks + ":" + path;
    if (path == PeerPath.ONE_SHOT) {
      all += ":blocks=" + blocks + ":chunk=" + chunk;
    }
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(all.getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(hash).getInt();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
