// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.SubnormalGuard;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * What a task asks for, checked as far as one task can. A request that breaks a rule is still
 * published, as a refusal, so that every task learns of it at the same call and nobody waits.
 */
final class CallRequest {
  private final CallKind kind;
  private ReduceContract contract;
  private DType dtype;
  private long count;
  private int root;
  private List<View> inputs = List.of();
  private List<View> outputs = List.of();
  private CollectiveException refusal;

  private CallRequest(CallKind kind) {
    this.kind = kind;
  }

  static CallRequest allReduce(
      RankTable table, int task, ReduceOp op, FoldOrder order, List<View> addends, View out) {
    CallRequest request = new CallRequest(CallKind.ALL_REDUCE);
    return request.checked(
        () -> {
          request.borrow(addends, List.of(out));
          request.requireOneEach(table, task, "addends", addends.size());
          request.requireAlike("addend", addends);
          request.requireAlike("out", List.of(out));
          request.contract = new ReduceContract(request.dtype, op, order, table.world());
          Aliasing.requireDisjoint(request.inputs, "addend");
          for (View addend : addends) {
            Aliasing.requireSameOrDisjoint("out", out, "addend", addend, addend);
          }
          SubnormalGuard.check();
        });
  }

  static CallRequest reduceScatter(
      RankTable table,
      int task,
      ReduceOp op,
      FoldOrder order,
      List<View> addends,
      List<View> outs) {
    CallRequest request = new CallRequest(CallKind.REDUCE_SCATTER);
    return request.checked(
        () -> {
          request.borrow(addends, outs);
          request.requireOneEach(table, task, "addends", addends.size());
          request.requireOneEach(table, task, "outs", outs.size());
          request.requireAlike("addend", addends);
          if (request.count % table.world() != 0) {
            throw CollectiveException.usage(
                ErrorCode.COUNT_MISMATCH,
                "addend count=%d is no multiple of world=%d",
                request.count,
                table.world());
          }
          long part = request.count / table.world();
          request.requireAll("out", outs, part);
          request.contract = new ReduceContract(request.dtype, op, order, table.world());
          Aliasing.requireDisjoint(request.inputs, "addend");
          Aliasing.requireDisjoint(request.outputs, "out");
          for (int r = 0; r < outs.size(); r++) {
            long from = (table.firstRank(task) + r) * part;
            for (View addend : addends) {
              Aliasing.requireSameOrDisjoint(
                  "out", outs.get(r), "addend", addend, addend.slice(from, part));
            }
          }
          SubnormalGuard.check();
        });
  }

  static CallRequest allGather(RankTable table, int task, List<View> rows, View out) {
    CallRequest request = new CallRequest(CallKind.ALL_GATHER);
    return request.checked(
        () -> {
          request.borrow(rows, List.of(out));
          request.requireOneEach(table, task, "rows", rows.size());
          request.requireAlike("row", rows);
          request.requireAll("out", List.of(out), request.count * table.world());
          Aliasing.requireDisjoint(request.inputs, "row");
          for (int r = 0; r < rows.size(); r++) {
            View place = out.slice((table.firstRank(task) + r) * request.count, request.count);
            Aliasing.requireSameOrDisjoint("row", rows.get(r), "out", out, place);
          }
        });
  }

  static CallRequest broadcast(RankTable table, int root, View buffer) {
    CallRequest request = new CallRequest(CallKind.BROADCAST);
    request.root = root;
    return request.checked(
        () -> {
          request.borrow(List.of(buffer), List.of(buffer));
          request.requireAlike("buffer", List.of(buffer));
          if (root < 0 || root >= table.world()) {
            throw CollectiveException.usage(
                ErrorCode.INVALID_ARGUMENT,
                "root=%d is not a logical rank of world=%d",
                root,
                table.world());
          }
        });
  }

  static CallRequest barrier() {
    return new CallRequest(CallKind.BARRIER);
  }

  private CallRequest checked(Runnable checks) {
    try {
      checks.run();
    } catch (CollectiveException e) {
      refusal = e;
    } catch (NullPointerException e) {
      refusal =
          new CollectiveException(
              ErrorCode.INVALID_ARGUMENT, "a view, op or order of the call is null", e);
    }
    if (refusal != null) {
      inputs = List.of();
      outputs = List.of();
    }
    return this;
  }

  private void borrow(List<View> newInputs, List<View> newOutputs) {
    inputs = List.copyOf(newInputs);
    outputs = List.copyOf(newOutputs);
    if (!inputs.isEmpty()) {
      dtype = inputs.get(0).dtype();
      count = inputs.get(0).count();
    }
  }

  private void requireOneEach(RankTable table, int task, String what, int given) {
    if (given != table.rankCount(task)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "%s=%d != %d hosted: one is needed for each of %s",
          what,
          given,
          table.rankCount(task),
          table.describe(task));
    }
  }

  private void requireAlike(String what, List<View> views) {
    requireAll(what, views, count);
  }

  private void requireAll(String what, List<View> views, long wanted) {
    for (View view : views) {
      if (view.dtype() != dtype) {
        throw CollectiveException.usage(
            ErrorCode.CONTRACT_MISMATCH,
            "%s dtype=%s != %s",
            what,
            view.dtype().label(),
            dtype.label());
      }
      if (view.count() != wanted) {
        throw CollectiveException.usage(
            ErrorCode.COUNT_MISMATCH, "%s count=%d != %d", what, view.count(), wanted);
      }
    }
  }

  /** The memory the request touches, for messages and metrics. */
  long byteCount() {
    return dtype == null ? 0 : count * dtype.bytes();
  }

  /** Whether all memory of the request lies on a device. */
  boolean isOnDevice() {
    // Every call asks, and most bring host memory: a look at one view is enough then.
    return !outputs.isEmpty()
        && outputs.get(0) instanceof DeviceView
        && inputs.stream().allMatch(DeviceView.class::isInstance)
        && outputs.stream().allMatch(DeviceView.class::isInstance);
  }

  /** A barrier that is its task's last call. */
  static CallRequest parting() {
    CallRequest request = new CallRequest(CallKind.BARRIER);
    request.root = CallHeader.PARTING;
    return request;
  }

  CallKind kind() {
    return kind;
  }

  /** Null when nothing is folded. */
  ReduceContract contract() {
    return contract;
  }

  DType dtype() {
    return dtype;
  }

  long count() {
    return count;
  }

  List<View> inputs() {
    return inputs;
  }

  List<View> outputs() {
    return outputs;
  }

  /** Where all its memory lies on a device, and nothing is wrong with it, a lane may serve it. */
  boolean mayBeServed() {
    return refusal == null && dtype != null && count > 0 && isOnDevice();
  }

  /**
   * The request as a call.
   *
   * @param memory as {@link CallHeader#memory}
   */
  CallRecord record(long number, int chunkBytes, int memory) {
    CallHeader header =
        new CallHeader(
            number,
            kind,
            contract,
            dtype,
            count,
            root,
            chunkBytes,
            memory,
            refusal == null ? null : refusal.code(),
            refusal == null ? null : refusal.getMessage());
    return new CallRecord(header, inputs, outputs);
  }
}
