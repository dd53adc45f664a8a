// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.util.List;
import org.rankfold.InternalApi;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;

/**
 * The fold's source and what it is specialised for, for kernels that do more than fold: they stand
 * behind it in one compilation, so that additions are written in one place. Equal where the
 * compiled code is. Immutable.
 */
@InternalApi
public final class FoldCode {
  private final FoldVariant variant;

  private FoldCode(FoldVariant variant) {
    this.variant = variant;
  }

  /**
   * The code that folds under a contract.
   *
   * @param contract what fixes the bits
   * @return its code
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED for a world of more than 4000
   */
  public static FoldCode of(ReduceContract contract) {
    return new FoldCode(FoldVariant.of(contract, FoldShape.DEFAULT));
  }

  /**
   * The source, without a kernel when RF_PARTIAL is defined.
   *
   * @return CUDA C++
   */
  public static String source() {
    return FoldSource.text();
  }

  /**
   * Compiles, unless an earlier process did.
   *
   * @param source CUDA C++
   * @param options as {@link #options} gives them, and more
   * @return a CUBIN
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED with the compiler's messages
   */
  public static byte[] cubin(String source, List<String> options) {
    return CubinCache.ofUser().cubin(source, options);
  }

  /**
   * The elements of one rank's shard.
   *
   * @param count elements in all
   * @param ranks how many shards
   * @param dtype the element type
   * @return a multiple of 16 bytes; the last shards may be shorter or empty
   */
  public static long shardElements(long count, int ranks, DType dtype) {
    return FoldLaunch.shardElements(count, ranks, dtype);
  }

  /**
   * The widest access that all addresses allow.
   *
   * @param dtype the element type
   * @param addresses where addends and outputs start, at least one
   * @return {@code Args.access} of fold.cu
   */
  public static int access(DType dtype, long... addresses) {
    return FoldLaunch.access(dtype, addresses);
  }

  /**
   * The factor of a mean.
   *
   * @param contract what fixes the bits
   * @return {@code Args.scale} of fold.cu
   */
  public static double scale(ReduceContract contract) {
    return FoldLaunch.scale(contract);
  }

  /**
   * The compiler's options.
   *
   * @param architecture such as {@code sm_90}
   * @return the options
   */
  public List<String> options(String architecture) {
    return variant.options(architecture);
  }

  /**
   * The room for addends.
   *
   * @return RF_CAPACITY
   */
  public int capacity() {
    return variant.capacity();
  }

  /**
   * Threads a block.
   *
   * @return RF_BLOCK
   */
  public int threads() {
    return variant.shape().threads();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FoldCode code && code.variant.equals(variant);
  }

  @Override
  public int hashCode() {
    return variant.hashCode();
  }

  @Override
  public String toString() {
    return variant.toString();
  }
}
