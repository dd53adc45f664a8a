// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.fold.Fold;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.memory.Arena;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.transport.cudapeer.PeerReach;
import org.rankfold.view.View;

/**
 * Runs the calls of one task: numbers them, waits for the peers' headers, folds and moves, and lets
 * go of the caller's memory only when no peer is inside it. One thread at a time calls; the calls
 * block, never longer than the collective timeout for one wait.
 *
 * <p>A usage error that all tasks see alike leaves the group usable. Any other failure loses it:
 * the first cause is kept, every task throws, and so does every later call.
 */
public final class Engine implements AutoCloseable {
  private static final int IDLE = 0;
  private static final int IN_CALL = 1;
  private static final int CLOSED = 2;

  private final RankTable table;
  private final int task;
  private final Transport transport;
  private final EngineSettings settings;
  private final CollectiveMetrics metrics;
  private final ProcessPoison poison;
  private final AbortLatch latch;
  private final Await await;
  private final EarlyDeliveries early = new EarlyDeliveries();
  private final FoldCall foldCall;
  private final MoveCall moveCall;
  private final AtomicInteger use = new AtomicInteger(IDLE);
  private final Headers headers;
  private final DeviceWays devices;
  private long calls;
  private volatile EngineProgress progress = new EngineProgress(0, null, System.nanoTime());

  /**
   * An engine of a task that has joined its group.
   *
   * @param table who hosts what
   * @param task this task
   * @param transport the task's transport, owned by the engine from now on
   * @param fold what adds
   * @param settings chunk and timeouts
   * @param metrics where to count
   * @param poison the process's poison
   */
  public Engine(
      RankTable table,
      int task,
      Transport transport,
      Fold fold,
      EngineSettings settings,
      CollectiveMetrics metrics,
      ProcessPoison poison) {
    this.table = table;
    this.task = task;
    this.transport = transport;
    this.settings = settings;
    this.metrics = metrics;
    this.poison = poison;
    this.latch = transport.abortLatch();
    this.await = new Await(latch, transport);
    this.foldCall = new FoldCall(transport, fold, await, settings, early);
    this.moveCall = new MoveCall(transport, await, settings, early);
    this.headers = new Headers(table, task, transport, await, settings);
    this.devices = new DeviceWays(table, task, await, settings, latch);
  }

  /**
   * Lets calls whose memory lies on devices everywhere move it by an exchange, from the next call
   * on; every task does so at the same point of its calls.
   *
   * @param exchange joined by all tasks, owned by the engine from now on
   */
  public void attach(DeviceExchange exchange) {
    devices.attach(exchange);
  }

  /**
   * Lets calls whose memory lies on devices everywhere read and write it where it lies, from the
   * next call on; every task does so at the same point of its calls.
   *
   * @param reach joined by all tasks, owned by the engine from now on
   * @throws CollectiveException UNSUPPORTED over a transport that cannot say who is inside whose
   *     memory
   */
  public void attach(PeerReach reach) {
    if (!mayReachPeers()) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "transport=%s cannot say who is inside whose memory",
          transport.name());
    }
    devices.attach(reach);
  }

  /**
   * Whether the transport can say who is inside whose memory.
   *
   * @return false where {@link #attach(PeerReach)} refuses
   */
  public boolean mayReachPeers() {
    return transport.knowsWhoIsInside();
  }

  /**
   * Folds all addends and gives every task the result.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank, ascending
   * @param out the result; disjoint from the addends or the same stretch as one of them
   */
  public void allReduce(ReduceOp op, FoldOrder order, List<View> addends, View out) {
    execute(CallRequest.allReduce(table, task, op, order, addends, out), foldCall);
  }

  /**
   * Folds all addends and gives every logical rank its part.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank, ascending; the count is a multiple of the
   *     world
   * @param outs one view for each hosted logical rank: its part
   */
  public void reduceScatter(ReduceOp op, FoldOrder order, List<View> addends, List<View> outs) {
    execute(CallRequest.reduceScatter(table, task, op, order, addends, outs), foldCall);
  }

  /**
   * Gives every task the rows of all logical ranks.
   *
   * @param rows one view for each hosted logical rank, ascending
   * @param out all rows by logical rank
   */
  public void allGather(List<View> rows, View out) {
    execute(CallRequest.allGather(table, task, rows, out), moveCall);
  }

  /**
   * Gives every task the elements of the root's task.
   *
   * @param root the root's logical rank
   * @param buffer read on the task that hosts the root, written on the others
   */
  public void broadcast(int root, View buffer) {
    execute(CallRequest.broadcast(table, root, buffer), moveCall);
  }

  /** Returns when every task has called. */
  public void barrier() {
    execute(CallRequest.barrier(), null);
  }

  /**
   * Makes a call in the order of a stream: behind what the stream was given before, and before what
   * it is given afterwards. Blocks until all tasks agreed on the call; then, with an exchange and
   * all memory on devices, until it is enqueued, else until it is done.
   *
   * @param stream of this task's device
   * @param call one call of this engine
   * @return what goes on on the device, or null when the call is done
   */
  public StreamCall onStream(CudaStream stream, Runnable call) {
    return devices.onStream(stream, call, () -> "call #" + calls + " on a stream", poison);
  }

  /** The transport outlives a call under way: it is closed by whoever comes last. */
  private void execute(CallRequest request, CallBody body) {
    if (!use.compareAndSet(IDLE, IN_CALL)) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the communicator is closed");
    }
    try {
      perform(request, body);
    } finally {
      if (!use.compareAndSet(IN_CALL, IDLE)) {
        release();
      }
    }
  }

  private void perform(CallRequest request, CallBody body) {
    requireUsable();
    while (!attempt(request, body, prepared(request))) {
      try {
        devices.tell(gather -> attempt(gather, moveCall, CallHeader.ON_HOST));
      } catch (RuntimeException | Error e) {
        throw lostBetweenCalls(e);
      }
    }
  }

  private int prepared(CallRequest request) {
    try {
      return devices.prepare(request);
    } catch (RuntimeException | Error e) {
      throw lostBetweenCalls(e);
    }
  }

  /** What only this task does between two calls has failed: the others must hear of it. */
  private CollectiveException lostBetweenCalls(Throwable failure) {
    CollectiveException own =
        failure instanceof CollectiveException known && !isUsage(known)
            ? known
            : new CollectiveException(
                ErrorCode.INTERNAL,
                table.describe(task) + " failed between calls: " + failure,
                failure);
    return lost("the next call", latch.trip(own), OutState.UNTOUCHED);
  }

  /** Makes a call; false when tasks have to tell where its memory lies, and make it again. */
  private boolean attempt(CallRequest request, CallBody body, int memory) {
    long startNs = System.nanoTime();
    long number = ++calls;
    Call call = new Call(request.record(number, settings.chunkBytes(), memory), table, task);
    progress = new EngineProgress(number - 1, call.header(), startNs);
    CallBody.Pass pass = null;
    try {
      if (!devices.mayServe(call)) {
        devices.awaitCaller(call.header()::describe);
      }
      transport.publish(call.own);
      if (body != null
          && call.header().refusal() == null
          && transport.isEager()
          && !devices.mayServe(call)) {
        call.stageAll();
        pass = body.of(call);
        pass.sendAhead();
      }
      headers.await(call);
    } catch (RuntimeException | Error e) {
      throw fail(call, pass, e);
    }
    try {
      Agreement.require(table, call.records);
    } catch (CollectiveException e) {
      if (!isUsage(e)) {
        // A peer's memory could not be looked at; the others know nothing of it.
        throw fail(call, pass, e);
      }
      withdraw(call, pass);
      progress = new EngineProgress(number, null, System.nanoTime());
      metrics.onFailure(e.code());
      throw e;
    }
    if (devices.hasToBeTold(call)) {
      progress = new EngineProgress(number, null, System.nanoTime());
      return false;
    }
    try {
      if (body != null) {
        CallBody deviceBody = devices.mayServe(call) ? devices.body(call) : null;
        if (deviceBody != null) {
          pass = deviceBody.of(call);
        } else if (pass == null) {
          devices.awaitCaller(call.header()::describe);
          call.concludePaths(transport);
          pass = body.of(call);
        }
        enter(call);
        pass.run();
        exit(call);
        pass.finish();
      }
    } catch (RuntimeException | Error e) {
      throw fail(call, pass, e);
    }
    long endNs = System.nanoTime();
    progress = new EngineProgress(number, null, endNs);
    metrics.onCall(call.header().kind().label(), request.byteCount(), endNs - startNs);
    return true;
  }

  /** The peers drop what came of the call; this task's memory is free once it is sent. */
  private void withdraw(Call call, CallBody.Pass pass) {
    early.onRefused(call.number());
    if (pass != null) {
      try {
        pass.withdraw();
      } catch (RuntimeException | Error e) {
        throw fail(call, pass, e);
      }
    }
  }

  private void requireUsable() {
    CollectiveException first = latch.cause();
    if (first != null) {
      throw lost("the next call", first, OutState.UNTOUCHED);
    }
  }

  private void enter(Call call) {
    if (call.mapped().length > 0) {
      call.entered = transport.enter(call.number());
      if (!call.entered) {
        await.throwIfAborted();
      }
    }
  }

  /** Lets go of the peers' memory and waits until they let go of this task's. */
  private void exit(Call call) {
    if (call.mapped().length == 0) {
      return;
    }
    transport.leave(call.number(), true);
    call.entered = false;
    for (int peer : call.mapped()) {
      boolean left =
          await.patientlyUntil(
              () -> latch.isTripped() || isOut(peer, call.number()),
              settings.collectiveTimeoutNs());
      if (left && !isOut(peer, call.number())) {
        // How long a failed call may wait for this peer is another matter.
        await.throwIfAborted();
      }
      if (!left) {
        throw new CollectiveException(
            ErrorCode.TIMEOUT,
            call.header().describe() + ": " + table.describe(peer) + " does not leave the call");
      }
    }
    for (int peer : call.mapped()) {
      if (!transport.hasCompleted(peer, call.number())) {
        await.throwIfAborted();
      }
    }
  }

  /** Left, or will never enter: whoever enters after the latch tripped turns round at once. */
  private boolean isOut(int peer, long number) {
    return transport.hasLeft(peer, number) || (latch.isTripped() && !transport.isInside(peer));
  }

  /** Ends the group: tells everybody, leaves, and waits until no peer is inside this memory. */
  private CollectiveException fail(Call call, CallBody.Pass pass, Throwable failure) {
    CollectiveException own =
        failure instanceof CollectiveException known && !isUsage(known)
            ? known
            : new CollectiveException(
                ErrorCode.INTERNAL, call.header().describe() + ": " + failure, failure);
    CollectiveException first = latch.trip(own);
    transport.abandon();
    early.drop();
    if (pass != null) {
      pass.drop();
    }
    // A device may still write to peers' memory: this task is inside it as long.
    if (call.entered && await.quietlyUntil(() -> isFree(pass), settings.exitTimeoutNs())) {
      transport.leave(call.number(), false);
    }
    boolean alone =
        await.quietlyUntil(() -> isMemoryFree() && isFree(pass), settings.exitTimeoutNs());
    if (!alone) {
      CollectiveException fatal =
          new CollectiveException(
              ErrorCode.MEMORY_STILL_BORROWED,
              call.header().describe()
                  + ": a peer is still inside this task's memory; output unknown",
              OutState.NOT_APPLICABLE,
              first);
      poison.poison(fatal);
      metrics.onFailure(fatal.code());
      return fatal;
    }
    metrics.onFailure(first.code());
    return lost(call.header().describe(), first, outState(call));
  }

  private static boolean isFree(CallBody.Pass pass) {
    return pass == null || pass.isFree();
  }

  private static boolean isUsage(CollectiveException e) {
    return e.category() == ErrorCategory.USAGE;
  }

  private boolean isMemoryFree() {
    for (int peer = 0; peer < table.tasks(); peer++) {
      if (peer != task && transport.isInside(peer)) {
        return false;
      }
    }
    return true;
  }

  private OutState outState(Call call) {
    if (call.header().kind() == CallKind.BARRIER) {
      return OutState.NOT_APPLICABLE;
    }
    if (call.outState == OutState.UNTOUCHED && !call.isOutStateKnown) {
      for (int peer = 0; peer < table.tasks(); peer++) {
        if (peer != task && transport.lastEntered(peer) >= call.number()) {
          return OutState.PARTLY_WRITTEN;
        }
      }
    }
    return call.outState;
  }

  private CollectiveException lost(String what, CollectiveException first, OutState state) {
    String text = what + " ended, output " + state + ": " + first.getMessage();
    return new CollectiveException(first.code(), text, state, first);
  }

  /**
   * Ends the group because of something outside a call, such as an exception in the caller's own
   * code. May be called by any thread; peers learn of it in their current wait or at their next
   * call.
   *
   * @param cause what happened
   */
  public void abort(Throwable cause) {
    if (cause instanceof CollectiveException known && !isUsage(known)) {
      latch.trip(known);
    } else {
      latch.trip(
          new CollectiveException(
              ErrorCode.USER_CODE_FAILED, table.describe(task) + " failed: " + cause, cause));
    }
  }

  /**
   * Why the group is lost. May be called by any thread.
   *
   * @return the first cause, or null while the group is intact
   */
  public CollectiveException failure() {
    return latch.cause();
  }

  /**
   * How far this task has come. May be called by any thread.
   *
   * @return a consistent state
   */
  public EngineProgress progress() {
    return progress;
  }

  /**
   * The transport's name.
   *
   * @return for example {@code loopback}, or {@code tcp+nccl} with an exchange attached
   */
  public String transportName() {
    return transport.name() + devices.names();
  }

  /**
   * The group's latch as this task sees it.
   *
   * @return the latch
   */
  public AbortLatch latch() {
    return latch;
  }

  /**
   * How the transport's pairs exchange bytes.
   *
   * @return {@code mapped}, {@code staged} or {@code mixed}
   */
  public String pathName() {
    return transport.pathName();
  }

  /**
   * Memory that peers reach as fast as the transport can. May be called by any thread.
   *
   * @param dtype the element type
   * @param count elements
   * @return the arena, owned by the caller
   * @throws CollectiveException as {@link Arena#allocate} says
   */
  public Arena allocate(DType dtype, long count) {
    return Arena.allocate(dtype, count, table.tasks(), transport.arenas());
  }

  /**
   * Leaves the group in good order, at once or when the call under way ends; idempotent. Peers that
   * still call are told so.
   */
  @Override
  public void close() {
    if (use.getAndSet(CLOSED) == IDLE) {
      release();
    }
  }

  private void release() {
    early.drop();
    try {
      devices.closeExchange();
      devices.part(transport, headers, ++calls);
    } finally {
      transport.close();
    }
  }
}
