// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.OracleInputs;
import org.rankfold.memory.Arena;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * What every task of the {@code digest} command does: makes its logical ranks' inputs, reduces
 * them, and hashes the whole result. Shows that rank code needs a {@link Communicator} and nothing
 * of Spark, so that a unit test can run it in a {@link org.rankfold.group.LoopbackGroup}.
 */
public final class DigestJob {
  /** Where a task's addends and result lie. */
  public enum Memory {
    /** Arrays. */
    HEAP,
    /** Direct buffers. */
    DIRECT,
    /** Arenas of the communicator, which a transport may map. */
    ARENA,
    /** Memory of the task's GPU. */
    DEVICE
  }

  private DigestJob() {}

  /**
   * Reduces the inputs of a row with all tasks of the group, which call with the same row. Blocks
   * as an all-reduce does.
   *
   * @param communicator the task's communicator, over the row's world
   * @param row what is reduced; its own answer is not looked at
   * @param memory where this task's addends and result lie
   * @return the SHA-256 of this task's result
   * @throws org.rankfold.errors.CollectiveException as the all-reduce throws it, such as
   *     CONTRACT_MISMATCH when tasks bring different rows
   */
  public static String digest(Communicator communicator, GoldenRow row, Memory memory) {
    CommunicatorInfo info = communicator.info();
    ReduceContract contract = row.contract();
    List<Runnable> owned = new ArrayList<>();
    try {
      List<View> addends = new ArrayList<>();
      for (int r = 0; r < info.rankCount(); r++) {
        View addend = view(communicator, contract.dtype(), row.n(), memory, owned);
        fill(addend, row, info.firstRank() + r);
        addends.add(addend);
      }
      View out = view(communicator, contract.dtype(), row.n(), memory, owned);
      communicator.allReduce(contract.op(), contract.order(), addends, out);
      return BitDigest.of(out);
    } finally {
      owned.forEach(Runnable::run);
    }
  }

  /** A device's memory is filled by way of an array. */
  private static void fill(View addend, GoldenRow row, int rank) {
    View host =
        addend instanceof DeviceView
            ? heap(addend.dtype(), Math.toIntExact(addend.count()))
            : addend;
    OracleInputs.fill(host, row.kind(), row.seed(), rank, 0);
    if (host != addend) {
      host.copyTo(addend);
    }
  }

  private static View view(
      Communicator communicator, DType dtype, long n, Memory memory, List<Runnable> owned) {
    return switch (memory) {
      case HEAP -> heap(dtype, Math.toIntExact(n));
      case DIRECT -> View.of(ByteBuffer.allocateDirect(Math.toIntExact(n * dtype.bytes())), dtype);
      case ARENA -> {
        Arena arena = communicator.allocate(dtype, n);
        owned.add(arena::close);
        yield arena.view();
      }
      case DEVICE -> {
        DeviceBuffer buffer = communicator.allocateOnDevice(dtype, n);
        owned.add(buffer::close);
        yield buffer.view();
      }
    };
  }

  private static View heap(DType dtype, int n) {
    return switch (dtype) {
      case F32 -> View.of(new float[n]);
      case F64 -> View.of(new double[n]);
      case F16, BF16 -> View.of(new short[n], dtype);
      case I32 -> View.of(new int[n]);
      case I64 -> View.of(new long[n]);
    };
  }
}
