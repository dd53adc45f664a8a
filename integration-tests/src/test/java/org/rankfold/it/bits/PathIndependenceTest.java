// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.engine.PartialsRule;
import org.rankfold.fold.Folds;
import org.rankfold.fold.ScalarFold;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/**
 * Path independence: whatever the number of tasks, the paths, the order of deliveries, the chunks,
 * the memory and the collective, a reduction has the bits of the obvious fold over all inputs.
 * Cases are drawn from consecutive seeds; {@code -Drankfold.seed} sets the first.
 */
class PathIndependenceTest {
  private static final int CASES = 400;
  private static final long BUDGET_NS = TimeUnit.SECONDS.toNanos(20);
  private static final int LEAST_CASES = 50;

  @Test
  void shouldGiveTheScalarFoldsBitsOnEveryPath() {
    String given = System.getProperty("rankfold.seed");
    long first = given == null ? System.nanoTime() & 0xffffffffL : Long.parseLong(given);
    long startNs = System.nanoTime();
    int done = 0;
    while (done < CASES && (done < LEAST_CASES || System.nanoTime() - startNs < BUDGET_NS)) {
      Case drawn = new Case(first + done);
      try {
        drawn.check();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            drawn + "; again with -Dtest.flags=-Drankfold.seed=" + drawn.seed, e);
      }
      done++;
    }
  }

  /** One reduction, drawn from a seed. */
  private static final class Case {
    private final long seed;
    private final Random random;
    private final ReduceContract contract;
    private final int tasks;
    private final int n;
    private final InputKind kind;
    private final Layout layout;
    private final PathRule path;
    private final DeliveryOrder delivery;
    private final PartialsRule partials;
    private final int chunkBytes;
    private final String fold;
    private final boolean inPlace;
    private final boolean scattered;
    private final boolean async;

    Case(long seed) {
      this.seed = seed;
      this.random = new Random(seed);
      int world = 3 + random.nextInt(10);
      DType dtype = oneOf(DType.values());
      ReduceOp op =
          dtype.isFloating()
              ? oneOf(ReduceOp.values())
              : oneOf(ReduceOp.SUM, ReduceOp.MIN, ReduceOp.MAX);
      this.contract = new ReduceContract(dtype, op, oneOf(FoldOrder.values()), world);
      this.tasks = 1 + random.nextInt(world);
      this.scattered = random.nextInt(3) == 0;
      int about = oneOf(0, 1, 2, tasks, 100, 2000, 20_000);
      int count = about == 0 ? 0 : 1 + random.nextInt(about);
      this.n = scattered ? count / world * world : count;
      this.kind =
          dtype.isFloating()
              ? oneOf(InputKind.SPREAD, InputKind.CANCEL, InputKind.EDGE, InputKind.BITS)
              : InputKind.BITS;
      this.layout = oneOf(Layout.values());
      this.path = oneOf(PathRule.values());
      this.delivery =
          oneOf(
              DeliveryOrder.ARRIVAL,
              DeliveryOrder.parse("ascending"),
              DeliveryOrder.parse("descending"),
              DeliveryOrder.parse("shuffled:" + seed));
      int least = n > 2000 ? 200 : 1;
      this.chunkBytes = least + random.nextInt(oneOf(8, 100, 5000, 100_000));
      this.partials = oneOf(PartialsRule.values());
      this.fold = oneOf("scalar", "lane-plain", "fastest");
      this.inPlace = random.nextBoolean();
      this.async = random.nextInt(4) == 0;
    }

    @SafeVarargs
    private <T> T oneOf(T... choices) {
      return choices[random.nextInt(choices.length)];
    }

    void check() {
      Bits expected = Bits.of(reference());
      LoopbackGroup group =
          LoopbackGroup.of(contract.world(), tasks)
              .path(path)
              .delivery(delivery)
              .partials(partials)
              .chunkBytes(chunkBytes)
              .fold(fold.equals("fastest") ? Folds.fastest() : Folds.named(fold));
      List<View> results = group.run(scattered ? this::reduceScatter : this::allReduce);
      for (int task = 0; task < tasks; task++) {
        assertThat(Bits.of(results.get(task)).mismatch(expected))
            .as("first byte that differs on task %d", task)
            .isEqualTo(-1);
      }
    }

    private View reference() {
      View[] addends = new View[contract.world()];
      for (int rank = 0; rank < addends.length; rank++) {
        addends[rank] = input(rank);
      }
      View out = Layout.HEAP.view(contract.dtype(), n, 0);
      new ScalarFold().fold(contract, addends, new View[] {out});
      return out;
    }

    private View input(int rank) {
      View view = layout.view(contract.dtype(), n, rank);
      OracleInputs.fill(view, kind, seed, rank, 0);
      return view;
    }

    private List<View> inputs(CommunicatorInfo info) {
      List<View> inputs = new ArrayList<>();
      for (int r = 0; r < info.rankCount(); r++) {
        inputs.add(input(info.firstRank() + r));
      }
      return inputs;
    }

    private View allReduce(Communicator communicator) {
      CommunicatorInfo info = communicator.info();
      List<View> addends = inputs(info);
      View out =
          inPlace
              ? addends.get((int) (seed % addends.size()))
              : layout.view(contract.dtype(), n, info.task());
      if (async) {
        communicator.allReduceAsync(contract.op(), contract.order(), addends, out).await();
      } else {
        communicator.allReduce(contract.op(), contract.order(), addends, out);
      }
      return out;
    }

    /** Followed by an all-gather: together they are an all-reduce. */
    private View reduceScatter(Communicator communicator) {
      CommunicatorInfo info = communicator.info();
      List<View> addends = inputs(info);
      int part = n / contract.world();
      View all = layout.view(contract.dtype(), n, info.task());
      List<View> parts = new ArrayList<>();
      for (int r = 0; r < info.rankCount(); r++) {
        View whole = inPlace ? addends.get(r) : all;
        parts.add(whole.slice((long) (info.firstRank() + r) * part, part));
      }
      if (async) {
        communicator.reduceScatterAsync(contract.op(), contract.order(), addends, parts);
        communicator.allGatherAsync(parts, all).await();
      } else {
        communicator.reduceScatter(contract.op(), contract.order(), addends, parts);
        communicator.allGather(parts, all);
      }
      return all;
    }

    @Override
    public String toString() {
      return String.join(
          " ",
          Arrays.asList(
              contract.id(),
              "tasks=" + tasks,
              "n=" + n,
              "kind=" + kind.label(),
              "layout=" + layout,
              "path=" + path.label(),
              "delivery=" + delivery,
              "partials=" + partials,
              "chunkBytes=" + chunkBytes,
              "fold=" + fold,
              "inPlace=" + inPlace,
              "scattered=" + scattered,
              "async=" + async));
    }
  }
}
