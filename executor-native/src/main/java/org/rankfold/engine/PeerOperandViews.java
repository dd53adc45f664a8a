// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.transport.cudapeer.PeerReach;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * A call's device memory as peers see it: the caller's own where they may map it, else a stretch of
 * an arena, which inputs are copied to before the call and outputs from after it.
 */
final class PeerOperandViews {
  private final List<DeviceView> given = new ArrayList<>();
  private final List<DeviceView> used = new ArrayList<>();
  private final int inputs;
  private boolean areOutputsApart;

  PeerOperandViews(List<View> inputs, List<View> outputs) {
    this.inputs = inputs.size();
    inputs.forEach(view -> given.add((DeviceView) view));
    outputs.forEach(view -> given.add((DeviceView) view));
    used.addAll(given);
  }

  /** A kernel writes all outputs as one stretch: those that are not one are staged as one. */
  void joinOutputs() {
    for (int i = inputs + 1; i < given.size(); i++) {
      DeviceView before = given.get(i - 1);
      areOutputsApart |= before.address() + before.byteCount() != given.get(i).address();
    }
  }

  private boolean isStaged(PeerReach reach, int i) {
    return (i >= inputs && areOutputsApart) || !reach.isShared(given.get(i));
  }

  /** How much room {@link #stage} takes. */
  long stagedBytes(PeerReach reach, long alignment) {
    long bytes = 0;
    boolean isContiguous = false;
    for (int i = 0; i < given.size(); i++) {
      if (isStaged(reach, i)) {
        isContiguous |= i >= inputs;
        bytes += aligned(given.get(i).byteCount(), alignment);
      }
    }
    return isContiguous ? bytes + alignment : bytes;
  }

  private static long aligned(long bytes, long alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  /** Takes stretches of the arena, and enqueues the copies of inputs to them. */
  void stage(PeerReach reach, DeviceMemory arena, long alignment, CudaStream stream) {
    long at = 0;
    for (int i = 0; i < given.size(); i++) {
      if (!isStaged(reach, i)) {
        continue;
      }
      DeviceView view = given.get(i);
      // Outputs that belong together follow one another without a gap.
      if (!(areOutputsApart && i > inputs)) {
        at = aligned(at, alignment);
      }
      DeviceView place = arena.view(view.dtype(), at, view.count());
      used.set(i, place);
      at += view.byteCount();
      if (i < inputs) {
        stream.copy(view, place);
      }
    }
  }

  /** Enqueues the copies of staged outputs to where they belong; false when there are none. */
  boolean copyOut(CudaStream stream) {
    boolean isAny = false;
    for (int i = inputs; i < given.size(); i++) {
      if (!used.get(i).isSameStretchAs(given.get(i))) {
        stream.copy(used.get(i), given.get(i));
        isAny = true;
      }
    }
    return isAny;
  }

  /** Inputs, then outputs, where peers find them. */
  List<DeviceView> all() {
    return used;
  }

  DeviceView[] inputs() {
    return used.subList(0, inputs).toArray(DeviceView[]::new);
  }

  DeviceView[] outputs() {
    return used.subList(inputs, used.size()).toArray(DeviceView[]::new);
  }

  /** This task's own addresses, for a call that needs no other task's. */
  void fill(long[] addends, int firstRank, long[] outs, int task) {
    for (int i = 0; i < inputs; i++) {
      addends[firstRank + i] = used.get(i).address();
    }
    outs[task] = used.get(inputs).address();
  }
}
