// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.fold.cuda.PlacedFold;
import org.rankfold.peer.cuda.EventRank;
import org.rankfold.peer.cuda.PeerCall;
import org.rankfold.peer.cuda.PeerKernels;
import org.rankfold.peer.cuda.PeerOperands;
import org.rankfold.peer.cuda.PeerPath;
import org.rankfold.peer.cuda.PeerRank;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.PeerArm;
import org.rankfold.transport.cudapeer.PeerReach;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Calls over device memory that all tasks reach: one kernel a task that meets its peers' on the
 * device, or a fold behind the peers' events. Before a call is published everything is where peers
 * may look for it: memory that they may not map is copied to memory that they may. One call at a
 * time.
 */
final class PeerLane {
  private static final long ALIGNMENT = 256;

  private final PeerReach reach;
  private final RankTable table;
  private final int task;
  private final Await await;
  private final EngineSettings settings;
  private final CudaStream stream;
  private final CudaEvent done;
  private final PeerKernels kernels;
  private final PeerRank spinning;
  private final EventRank waiting;
  private PeerReach.Stretch arena;

  /** What the next call's memory is: of the last {@link #prepare}. */
  private PeerOperandViews operands;

  PeerLane(PeerReach reach, RankTable table, int task, Await await, EngineSettings settings) {
    this.reach = reach;
    this.table = table;
    this.task = task;
    this.await = await;
    this.settings = settings;
    this.stream = CudaStream.create(reach.device());
    this.done = CudaEvent.create(reach.device());
    this.kernels = PeerKernels.ofProcess(reach.device());
    if (reach.arm() == PeerArm.SPIN) {
      this.spinning =
          PeerRank.of(kernels, stream, reach.own(), reach.seats(), task, reach.timeouts());
      this.waiting = null;
    } else {
      this.spinning = null;
      this.waiting = new EventRank(PlacedFold.on(reach.device()), stream, task, reach.ready());
    }
  }

  PeerReach reach() {
    return reach;
  }

  /**
   * Makes a request's memory ready for peers, and loads the code it needs, since nothing may be
   * loaded once a peer waits on the device.
   *
   * @return what the header says of the memory
   */
  int prepare(CallRequest request) {
    operands = null;
    if (!request.isOnDevice()) {
      return CallHeader.ON_HOST;
    }
    if (!request.mayBeServed() || !isOwn(request.inputs()) || !isOwn(request.outputs())) {
      return CallHeader.ON_DEVICE;
    }
    PeerPath path = path(request.kind(), request.count() * request.dtype().bytes());
    if (path == PeerPath.STAGED) {
      return CallHeader.ON_DEVICE;
    }
    if (spinning != null && request.contract() != null) {
      kernels.prepare(request.contract());
    } else if (spinning != null) {
      kernels.prepareMovement(table.world());
    }
    PeerOperandViews views = new PeerOperandViews(request.inputs(), request.outputs());
    if (spinning != null && request.kind() == CallKind.REDUCE_SCATTER) {
      views.joinOutputs();
    }
    operands = views;
    if (path == PeerPath.ONE_SHOT) {
      return CallHeader.NOT_NEEDED;
    }
    stage(views);
    if (waiting != null) {
      waiting.markReady();
    }
    int binding = reach.binding(views.all());
    return binding < 0 ? CallHeader.UNTOLD : CallHeader.BOUND + binding;
  }

  private boolean isOwn(List<View> views) {
    return views.stream().allMatch(view -> ((DeviceView) view).port() == reach.device());
  }

  /** The path of a payload; only the spinning arm pushes, and only what fits its staging. */
  private PeerPath path(CallKind kind, long bytes) {
    PeerPath path = reach.paths().path(bytes);
    if (path != PeerPath.ONE_SHOT) {
      return path;
    }
    boolean isPushed =
        spinning != null
            && kind == CallKind.ALL_REDUCE
            && (bytes + ALIGNMENT) * table.world() <= reach.seats().get(task).setBytes();
    return isPushed ? PeerPath.ONE_SHOT : PeerPath.MAPPED;
  }

  /** Finds room for what peers may not map, and copies what they will read of it. */
  private void stage(PeerOperandViews views) {
    long bytes = views.stagedBytes(reach, ALIGNMENT);
    if (bytes == 0) {
      return;
    }
    if (arena == null || arena.memory().bytes() < bytes) {
      if (arena != null) {
        reach.giveBack(arena);
        arena = null;
      }
      arena = reach.allocate(Long.highestOneBit(Math.max(bytes, 1L << 20) - 1) << 1);
    }
    views.stage(reach, arena.memory(), ALIGNMENT, stream);
  }

  /** Whether all tasks said that their memory can be reached. */
  boolean serves(Call call) {
    return Arrays.stream(call.records)
        .allMatch(record -> record.header().memory() >= CallHeader.UNTOLD);
  }

  /** Whether some task has yet to tell where its memory lies; all conclude the same. */
  boolean hasToBeTold(Call call) {
    return Arrays.stream(call.records)
        .anyMatch(record -> record.header().memory() == CallHeader.UNTOLD);
  }

  /** What this task tells when {@link #hasToBeTold}. */
  long[] row() {
    List<DeviceView> all = operands.all();
    return reach.row(reach.binding(all) < 0 ? all : null);
  }

  CallBody body() {
    return call -> new PeerPass(call, operands);
  }

  private final class PeerPass implements CallBody.Pass {
    private final Call call;
    private final PeerOperandViews views;
    private final CallHeader header;
    private final long[][] addresses = new long[table.tasks()][];

    PeerPass(Call call, PeerOperandViews views) {
      this.call = call;
      this.views = views;
      this.header = call.header();
      call.mapAll();
      reach.onNextCall();
    }

    @Override
    public void run() {
      PeerPath path = path(header.kind(), header.count() * header.dtype().bytes());
      if (path == PeerPath.MAPPED) {
        for (int peer = 0; peer < addresses.length; peer++) {
          int binding = call.records[peer].header().memory() - CallHeader.BOUND;
          addresses[peer] = reach.addresses(peer, binding);
        }
      }
      await.throwIfAborted();
      if (spinning != null) {
        spin(path);
      } else {
        call.outState = OutState.PARTLY_WRITTEN;
        enqueueBehindEvents();
      }
      awaitStream();
      if (spinning != null) {
        requireAccepted();
        copyOut();
      }
    }

    /** With the event arm an output is whole only when all peers are done. */
    @Override
    public void finish() {
      if (waiting != null) {
        copyOut();
      }
    }

    private void copyOut() {
      if (views.copyOut(stream)) {
        awaitStream();
      }
    }

    private void awaitStream() {
      done.record(stream);
      await.until(
          done::isDone,
          settings.collectiveTimeoutNs(),
          () -> header.describe() + ": the device is not done");
    }

    private void requireAccepted() {
      try {
        spinning.check();
      } catch (CollectiveException e) {
        call.outState = e.outState();
        call.isOutStateKnown = true;
        throw e;
      }
    }

    private void spin(PeerPath path) {
      PeerCall peerCall =
          switch (header.kind()) {
            case ALL_REDUCE -> PeerCall.allReduce(header.contract(), header.count());
            case REDUCE_SCATTER -> PeerCall.reduceScatter(header.contract(), header.count());
            case ALL_GATHER -> PeerCall.allGather(header.dtype(), table.world(), header.count());
            case BROADCAST ->
                PeerCall.broadcast(header.dtype(), table.world(), header.root(), header.count());
            case BARRIER -> throw noPath();
          };
      long[] addends = new long[table.world()];
      long[] outs = new long[table.tasks()];
      if (path == PeerPath.ONE_SHOT) {
        views.fill(addends, table.firstRank(task), outs, task);
      } else {
        for (int peer = 0; peer < outs.length; peer++) {
          int inputs = inputsOf(peer);
          int at = header.kind() == CallKind.BROADCAST ? header.root() : table.firstRank(peer);
          if (header.kind() != CallKind.BROADCAST || peer == table.taskOf(header.root())) {
            System.arraycopy(addresses[peer], 0, addends, at, inputs);
          }
          outs[peer] = addresses[peer][inputs];
        }
      }
      call.outState = OutState.PARTLY_WRITTEN;
      spinning.enqueue(peerCall, path, new PeerOperands(addends, outs));
    }

    private int inputsOf(int peer) {
      return header.kind() == CallKind.BROADCAST ? 1 : table.rankCount(peer);
    }

    private void enqueueBehindEvents() {
      long count = header.count();
      switch (header.kind()) {
        case ALL_REDUCE -> waiting.pushShard(header.contract(), addends(count), outs(count));
        case REDUCE_SCATTER ->
            waiting.foldParts(
                header.contract(), addends(count), table.firstRank(task), views.outputs());
        case ALL_GATHER ->
            waiting.pushRows(views.inputs(), table.firstRank(task), outs(count * table.world()));
        case BROADCAST -> {
          int root = table.taskOf(header.root());
          waiting.pushShardOf(view(addresses[root][0], count), outs(count));
        }
        case BARRIER -> throw noPath();
      }
    }

    private DeviceView[] addends(long count) {
      List<DeviceView> all = new ArrayList<>();
      for (int peer = 0; peer < table.tasks(); peer++) {
        for (int r = 0; r < table.rankCount(peer); r++) {
          all.add(view(addresses[peer][r], count));
        }
      }
      return all.toArray(DeviceView[]::new);
    }

    private DeviceView[] outs(long count) {
      DeviceView[] outs = new DeviceView[table.tasks()];
      for (int peer = 0; peer < outs.length; peer++) {
        outs[peer] = view(addresses[peer][inputsOf(peer)], count);
      }
      return outs;
    }

    /** A peer's memory by this task's device, which reaches it. */
    private DeviceView view(long address, long count) {
      return DeviceView.of(reach.device(), address, header.dtype(), count);
    }

    private CollectiveException noPath() {
      return new CollectiveException(ErrorCode.INTERNAL, header.describe() + " moves no memory");
    }

    @Override
    public void drop() {
      if (spinning != null) {
        spinning.giveUp();
      }
    }

    @Override
    public boolean isFree() {
      return isIdle();
    }
  }

  /** Whether no work of a call is left on the device; what failed has ended too. */
  private boolean isIdle() {
    try {
      return stream.isDone();
    } catch (CollectiveException e) {
      return true;
    }
  }

  /**
   * Lets go of peers' memory; own memory is freed by the caller, who finds out whether peers have
   * done the same.
   */
  boolean unmap() {
    if (!isIdle()) {
      return false;
    }
    reach.unmap();
    if (arena != null) {
      reach.giveBack(arena);
      arena = null;
    }
    done.close();
    stream.close();
    return true;
  }
}
