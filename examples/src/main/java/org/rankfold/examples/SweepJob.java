// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Fold;
import org.rankfold.fold.Folds;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/**
 * What every task of the {@code sweep} command does: all-reduces of growing size, timed, and every
 * result compared with the obvious fold of the same inputs, bit by bit. Inputs are written anew
 * before every call, so that no shard sleeps in its owner's cache; the clock runs from a barrier to
 * the end of the call only.
 */
final class SweepJob {
  /**
   * What is swept.
   *
   * @param dtype the element type
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param sizes bytes of an addend, ascending
   * @param kind where addends and results lie
   * @param calls timed calls of a size; 0 chooses by size
   */
  record Plan(
      DType dtype, ReduceOp op, FoldOrder order, List<Long> sizes, MemoryKind kind, int calls)
      implements Serializable {
    /** The elements of an addend. */
    long count(long bytes) {
      return bytes / dtype.bytes();
    }

    /** Enough for a median, and no more than a second or two of large sizes. */
    int callsOf(long bytes) {
      return calls > 0 ? calls : (int) Math.max(5, Math.min(200, (512L << 20) / (bytes + 1)));
    }
  }

  /**
   * One size, as the slowest task saw it.
   *
   * @param bytes of an addend
   * @param count elements of an addend
   * @param p50Us the median call, in microseconds
   * @param p99Us nearly the slowest call
   * @param wrong elements that differ from the obvious fold, in all calls of all tasks
   */
  record Size(long bytes, long count, double p50Us, double p99Us, long wrong)
      implements Serializable {}

  private static final int CHECK_ELEMENTS = 1 << 16;
  private static final int WARM_CALLS = 300;
  private static final long WARM_BYTES = 64L << 20;

  private final Communicator communicator;
  private final Plan plan;
  private final ReduceContract contract;
  private final InputKind inputs;
  private final Fold obvious = Folds.named("scalar");

  private SweepJob(Communicator communicator, Plan plan) {
    this.communicator = communicator;
    this.plan = plan;
    this.contract =
        new ReduceContract(plan.dtype(), plan.op(), plan.order(), communicator.info().world());
    this.inputs = plan.dtype().isFloating() ? InputKind.SPREAD : InputKind.BITS;
  }

  /** Sweeps with all tasks of the group; every task gets the same sizes. */
  static List<Size> run(Communicator communicator, Plan plan) {
    SweepJob job = new SweepJob(communicator, plan);
    List<Size> done = new ArrayList<>();
    for (long bytes : plan.sizes()) {
      done.add(job.time(bytes));
    }
    return done;
  }

  private Size time(long bytes) {
    CommunicatorInfo info = communicator.info();
    long count = plan.count(bytes);
    int calls = plan.callsOf(bytes);
    int warm = (int) Math.max(2, Math.min(WARM_CALLS, WARM_BYTES / (bytes + 1)));
    try (TaskMemory memory = new TaskMemory(communicator, plan.kind())) {
      List<View> sources = new ArrayList<>();
      List<View> addends = new ArrayList<>();
      for (int r = 0; r < info.rankCount(); r++) {
        sources.add(filled(info.firstRank() + r, 0, count));
        addends.add(memory.view(plan.dtype(), count));
      }
      View out = memory.view(plan.dtype(), count);
      View expected = expected(count);
      View found = TaskMemory.heap(plan.dtype(), Math.toIntExact(count));
      double[] us = new double[calls];
      long wrong = 0;
      for (int call = -warm; call < calls; call++) {
        for (int r = 0; r < addends.size(); r++) {
          sources.get(r).copyTo(addends.get(r));
        }
        communicator.barrier();
        long startNs = System.nanoTime();
        communicator.allReduce(plan.op(), plan.order(), addends, out);
        long endNs = System.nanoTime();
        out.copyTo(found);
        wrong += differences(found, expected);
        if (call >= 0) {
          us[call] = (endNs - startNs) / 1e3;
        }
      }
      return slowest(bytes, count, us, wrong);
    }
  }

  private Size slowest(long bytes, long count, double[] us, long wrong) {
    Arrays.sort(us);
    double[] times = {us[us.length / 2], us[(us.length * 99) / 100]};
    communicator.allReduce(ReduceOp.MAX, FoldOrder.RANK_LEFT, perRank(times), View.of(times));
    long[] sum = {wrong};
    List<View> counts = new ArrayList<>();
    for (int r = 0; r < communicator.info().rankCount(); r++) {
      counts.add(View.of(new long[] {r == 0 ? wrong : 0}));
    }
    communicator.allReduce(counts, View.of(sum));
    return new Size(bytes, count, times[0], times[1], sum[0]);
  }

  private List<View> perRank(double[] values) {
    List<View> views = new ArrayList<>();
    for (int r = 0; r < communicator.info().rankCount(); r++) {
      views.add(View.of(values.clone()));
    }
    return views;
  }

  private View filled(int rank, long first, long count) {
    View view = TaskMemory.heap(plan.dtype(), Math.toIntExact(count));
    OracleInputs.fill(view, inputs, count, rank, first);
    return view;
  }

  /** By the obvious fold, a stretch at a time. */
  private View expected(long count) {
    View whole = TaskMemory.heap(plan.dtype(), Math.toIntExact(count));
    for (long from = 0; from < count; from += CHECK_ELEMENTS) {
      long n = Math.min(CHECK_ELEMENTS, count - from);
      View[] addends = new View[contract.world()];
      for (int rank = 0; rank < addends.length; rank++) {
        View stretch = TaskMemory.heap(plan.dtype(), (int) n);
        OracleInputs.fill(stretch, inputs, count, rank, from);
        addends[rank] = stretch;
      }
      obvious.fold(contract, addends, new View[] {whole.slice(from, n)});
    }
    return whole;
  }

  private static long differences(View found, View expected) {
    long differences = 0;
    for (long i = 0; i < found.count(); i++) {
      if (RawBits.read(found, i) != RawBits.read(expected, i)) {
        differences++;
      }
    }
    return differences;
  }
}
