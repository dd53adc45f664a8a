// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.view.DeviceView;

/** One launch's arguments, as {@code struct Args} of fold.cu lays them out. */
final class FoldLaunch {
  /** As many outputs as a kernel stores to. */
  static final int MAX_OUTS = 16;

  static final int VECTOR_BYTES = 16;

  private static final int HEADER_BYTES = 40;

  private FoldLaunch() {}

  static byte[] arguments(
      ReduceContract contract,
      double scale,
      DeviceView[] addends,
      DeviceView[] outs,
      int capacity,
      long shardElements,
      int firstRank) {
    ByteBuffer args =
        ByteBuffer.allocate(HEADER_BYTES + Long.BYTES * (MAX_OUTS + capacity))
            .order(ByteOrder.nativeOrder());
    int stored = Math.min(outs.length, MAX_OUTS);
    args.putLong(addends[0].count())
        .putLong(shardElements)
        .putDouble(scale)
        .putInt(contract.world())
        .putInt(stored)
        .putInt(firstRank)
        .putInt(access(contract.dtype(), addends, outs, stored));
    for (int i = 0; i < stored; i++) {
      args.putLong(outs[i].address());
    }
    args.position(HEADER_BYTES + Long.BYTES * MAX_OUTS);
    for (DeviceView addend : addends) {
      args.putLong(addend.address());
    }
    return args.array();
  }

  /**
   * The elements of one rank's shard: all alike but the last ones, and a multiple of 16 bytes, so
   * that every shard starts as far from an aligned address as the whole does.
   */
  static long shardElements(long count, int ranks, DType dtype) {
    long step = VECTOR_BYTES / dtype.bytes();
    long each = (count + ranks - 1) / ranks;
    return Math.max(step, (each + step - 1) / step * step);
  }

  private static int access(DType dtype, DeviceView[] addends, DeviceView[] outs, int stored) {
    long[] addresses = new long[addends.length + stored];
    for (int i = 0; i < addends.length; i++) {
      addresses[i] = addends[i].address();
    }
    for (int i = 0; i < stored; i++) {
      addresses[addends.length + i] = outs[i].address();
    }
    return access(dtype, addresses);
  }

  /** 2 when all pointers are equally far from a multiple of 16, 1 when of the element, else 0. */
  static int access(DType dtype, long[] addresses) {
    long first = addresses[0];
    long differences = 0;
    for (long address : addresses) {
      differences |= address ^ first;
    }
    if (((first | differences) & (dtype.bytes() - 1)) != 0) {
      return 0;
    }
    return (differences & (VECTOR_BYTES - 1)) == 0 ? 2 : 1;
  }

  static double scale(ReduceContract contract) {
    return contract.dtype() == DType.F64 ? 1.0 / contract.world() : 1.0f / contract.world();
  }
}
