// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.CollectiveHandle;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.collective.StreamCommunicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaStream;
import org.rankfold.memory.Arena;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * Runs every blocking call over arenas that stand for the arrays its caller brings: two views of
 * one array are two stretches of one arena, so what is in place stays so. Asynchronous calls and
 * calls that bring arenas pass through.
 */
final class ArenaCommunicator implements Communicator {
  private final Communicator own;

  ArenaCommunicator(Communicator own) {
    this.own = own;
  }

  private interface Call {
    void run(List<View> inputs, List<View> outputs);
  }

  private final class Stand implements AutoCloseable {
    private final List<Object> arrays = new ArrayList<>();
    private final List<Arena> arenas = new ArrayList<>();
    private final List<View> wholes = new ArrayList<>();

    List<View> of(List<View> views) {
      List<View> stretches = new ArrayList<>();
      for (View view : views) {
        stretches.add(view instanceof HeapView heap ? of(heap) : view);
      }
      return stretches;
    }

    private View of(HeapView view) {
      for (int i = 0; i < arrays.size(); i++) {
        if (arrays.get(i) == view.array() && wholes.get(i).dtype() == view.dtype()) {
          return wholes.get(i).slice(view.offset(), view.count());
        }
      }
      Arena arena = own.allocate(view.dtype(), Array.getLength(view.array()));
      arrays.add(view.array());
      arenas.add(arena);
      wholes.add(arena.view());
      return arena.view().slice(view.offset(), view.count());
    }

    @Override
    public void close() {
      arenas.forEach(Arena::close);
    }
  }

  private void call(List<View> inputs, List<View> outputs, Call call) {
    try (Stand stand = new Stand()) {
      List<View> standInputs = stand.of(inputs);
      List<View> standOutputs = stand.of(outputs);
      copy(outputs, standOutputs);
      copy(inputs, standInputs);
      call.run(standInputs, standOutputs);
      copy(standOutputs, outputs);
    }
  }

  private static void copy(List<View> from, List<View> to) {
    for (int i = 0; i < from.size(); i++) {
      from.get(i).copyTo(to.get(i));
    }
  }

  @Override
  public CommunicatorInfo info() {
    return own.info();
  }

  @Override
  public void allReduce(ReduceOp op, FoldOrder order, List<View> addends, View out) {
    call(addends, List.of(out), (ins, outs) -> own.allReduce(op, order, ins, outs.get(0)));
  }

  @Override
  public CollectiveHandle allReduceAsync(
      ReduceOp op, FoldOrder order, List<View> addends, View out) {
    return own.allReduceAsync(op, order, addends, out);
  }

  @Override
  public void reduceScatter(ReduceOp op, FoldOrder order, List<View> addends, List<View> outs) {
    call(addends, outs, (stands, standOuts) -> own.reduceScatter(op, order, stands, standOuts));
  }

  @Override
  public CollectiveHandle reduceScatterAsync(
      ReduceOp op, FoldOrder order, List<View> addends, List<View> outs) {
    return own.reduceScatterAsync(op, order, addends, outs);
  }

  @Override
  public void allGather(List<View> rows, View out) {
    call(rows, List.of(out), (ins, outs) -> own.allGather(ins, outs.get(0)));
  }

  @Override
  public CollectiveHandle allGatherAsync(List<View> rows, View out) {
    return own.allGatherAsync(rows, out);
  }

  @Override
  public void broadcast(int root, View buffer) {
    call(List.of(), List.of(buffer), (ins, outs) -> own.broadcast(root, outs.get(0)));
  }

  @Override
  public CollectiveHandle broadcastAsync(int root, View buffer) {
    return own.broadcastAsync(root, buffer);
  }

  @Override
  public void barrier() {
    own.barrier();
  }

  @Override
  public StreamCommunicator onStream(CudaStream stream) {
    return own.onStream(stream);
  }

  @Override
  public Arena allocate(DType dtype, long count) {
    return own.allocate(dtype, count);
  }

  @Override
  public DeviceBuffer allocateOnDevice(DType dtype, long count) {
    return own.allocateOnDevice(dtype, count);
  }

  @Override
  public void register(DeviceBuffer buffer) {
    own.register(buffer);
  }

  @Override
  public void checkAbort() {
    own.checkAbort();
  }

  @Override
  public void abort(Throwable cause) {
    own.abort(cause);
  }

  @Override
  public void close() {
    own.close();
  }
}
