// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import java.util.List;
import java.util.function.Function;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.engine.Engine;
import org.rankfold.engine.StreamCall;
import org.rankfold.view.View;

/** A communicator's calls, each placed in a stream by whoever made this. */
final class StreamCalls implements StreamCommunicator {
  private static final CollectiveHandle DONE = new Handle(null);

  private final Engine engine;
  private final Function<Runnable, StreamCall> place;

  /**
   * @param engine whose calls
   * @param place makes one in the stream; null when it is done then
   */
  StreamCalls(Engine engine, Function<Runnable, StreamCall> place) {
    this.engine = engine;
    this.place = place;
  }

  @Override
  public CollectiveHandle allReduce(ReduceOp op, FoldOrder order, List<View> addends, View out) {
    return handle(() -> engine.allReduce(op, order, addends, out));
  }

  @Override
  public CollectiveHandle reduceScatter(
      ReduceOp op, FoldOrder order, List<View> addends, List<View> outs) {
    return handle(() -> engine.reduceScatter(op, order, addends, outs));
  }

  @Override
  public CollectiveHandle allGather(List<View> rows, View out) {
    return handle(() -> engine.allGather(rows, out));
  }

  @Override
  public CollectiveHandle broadcast(int root, View buffer) {
    return handle(() -> engine.broadcast(root, buffer));
  }

  private CollectiveHandle handle(Runnable call) {
    StreamCall onDevice = place.apply(call);
    return onDevice == null ? DONE : new Handle(onDevice);
  }

  private record Handle(StreamCall onDeviceOrNull) implements CollectiveHandle {
    @Override
    public void await() {
      if (onDeviceOrNull != null) {
        onDeviceOrNull.await();
      }
    }

    @Override
    public boolean isDone() {
      return onDeviceOrNull == null || onDeviceOrNull.isDone();
    }
  }
}
