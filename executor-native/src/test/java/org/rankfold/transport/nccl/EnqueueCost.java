// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.nccl;
import org.bytedeco.cuda.nccl.ncclComm;
import org.rankfold.contract.DType;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.transport.DeviceExchange.Move;
import org.rankfold.view.DeviceView;

/** How long a thread is busy with one exchange of 4 KiB with each peer before the stream has it. */
final class EnqueueCost {
  private static final long BYTES = 4 << 10;
  private static final int RUNS = 200;

  private final NcclRank rank;
  private final int tasks;
  private final int task;

  EnqueueCost(NcclRank rank, int tasks, int task) {
    this.rank = rank;
    this.tasks = tasks;
    this.task = task;
  }

  void run() throws Exception {
    AbortLatch latch = new AbortLatch();
    try (NcclExchange exchange = rank.open("cost", tasks, task, 60, latch);
        DeviceMemory memory = DeviceMemory.allocate(rank.device, 2L * tasks * BYTES)) {
      List<Move> sends = new ArrayList<>();
      List<Move> receives = new ArrayList<>();
      for (int peer = 0; peer < tasks; peer++) {
        if (peer != task) {
          sends.add(new Move(peer, memory.view(DType.F32, peer * BYTES, BYTES / 4)));
          receives.add(new Move(peer, memory.view(DType.F32, (tasks + peer) * BYTES, BYTES / 4)));
        }
      }
      double[][] us = new double[3][RUNS];
      for (int i = -20; i < RUNS; i++) {
        long startNs = System.nanoTime();
        exchange.exchange(sends, receives, rank.stream);
        long endNs = System.nanoTime();
        await(latch);
        long rawNs = System.nanoTime();
        begin(exchange.communicator().handle(), sends, receives);
        long begunNs = System.nanoTime();
        awaitReady(exchange.communicator().handle());
        long readyNs = System.nanoTime();
        await(latch);
        if (i >= 0) {
          us[0][i] = (endNs - startNs) / 1e3;
          us[1][i] = (begunNs - rawNs) / 1e3;
          us[2][i] = (readyNs - begunNs) / 1e3;
        }
      }
      if (task == 0) {
        for (double[] each : us) {
          Arrays.sort(each);
        }
        System.out.printf(
            Locale.ROOT,
            "%nenqueuing an exchange of 4 KiB with each of %d peers, median of %d, us: exchange() %.0f;"
                + " of bare calls: the group's %.0f, then until the library has launched %.0f%n",
            tasks - 1,
            RUNS,
            us[0][RUNS / 2],
            us[1][RUNS / 2],
            us[2][RUNS / 2]);
      }
    }
  }

  private void begin(ncclComm handle, List<Move> sends, List<Move> receives) {
    CUstream_st stream = RawAddress.stream(rank.stream);
    NcclCheck.success(nccl.ncclGroupStart(), "ncclGroupStart");
    for (int i = 0; i < sends.size(); i++) {
      DeviceView to = receives.get(i).view();
      DeviceView from = sends.get(i).view();
      int peer = sends.get(i).peer();
      NcclCheck.success(
          nccl.ncclRecv(RawAddress.of(to), to.byteCount(), nccl.ncclUint8, peer, handle, stream),
          "ncclRecv");
      NcclCheck.success(
          nccl.ncclSend(
              RawAddress.of(from), from.byteCount(), nccl.ncclUint8, peer, handle, stream),
          "ncclSend");
    }
    NcclCheck.isInProgress(nccl.ncclGroupEnd(), "ncclGroupEnd");
  }

  private static void awaitReady(ncclComm handle) {
    Deadline deadline = Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(20));
    int[] state = {nccl.ncclInProgress};
    while (state[0] == nccl.ncclInProgress) {
      NcclCheck.success(nccl.ncclCommGetAsyncError(handle, state), "ncclCommGetAsyncError");
      if (deadline.isExpired(System.nanoTime())) {
        throw new IllegalStateException("not launched");
      }
    }
  }

  private void await(AbortLatch latch) {
    rank.stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(20)), latch);
  }
}
