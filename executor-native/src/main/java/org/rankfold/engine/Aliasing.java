// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.RankTable;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** Finds memory that a call would use twice: nobody could say what its result should be. */
final class Aliasing {
  private record Use(int task, View view) {}

  private Aliasing() {}

  static void requireDisjoint(List<View> views, String what) {
    for (int i = 0; i < views.size(); i++) {
      for (int j = 0; j < i; j++) {
        if (views.get(i).overlaps(views.get(j))) {
          throw CollectiveException.usage(
              ErrorCode.ALIASED_VIEWS, "%s %d shares memory with %s %d", what, i, what, j);
        }
      }
    }
  }

  /** The first view must be the allowed stretch of the second, or share nothing with it. */
  static void requireSameOrDisjoint(
      String what, View view, String otherWhat, View other, View allowed) {
    if (view.overlaps(other) && !view.isSameStretchAs(allowed)) {
      throw CollectiveException.usage(
          ErrorCode.ALIASED_VIEWS,
          "%s (%s) shares memory with %s (%s) without being the stretch that is allowed",
          what,
          view,
          otherWhat,
          other);
    }
  }

  /**
   * Whether a task's output is one of its own addends: then it may be written only when no peer is
   * to be sent that addend any more.
   */
  static boolean isInPlace(CallRecord record) {
    for (View input : record.inputs()) {
      for (View output : record.outputs()) {
        if (input.overlaps(output)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * No two tasks of one process may bring the same memory to a call. All tasks see the same
   * records, so all refuse alike.
   */
  static void requireDisjointTasks(RankTable table, CallRecord[] records) {
    IdentityHashMap<Object, List<Use>> byArray = new IdentityHashMap<>();
    List<Use> direct = new ArrayList<>();
    for (int task = 0; task < records.length; task++) {
      for (View view : records[task].inputs()) {
        requireUnused(table, byArray, direct, new Use(task, view));
      }
      for (View view : records[task].outputs()) {
        requireUnused(table, byArray, direct, new Use(task, view));
      }
    }
  }

  private static void requireUnused(
      RankTable table, IdentityHashMap<Object, List<Use>> byArray, List<Use> direct, Use use) {
    List<Use> others =
        use.view() instanceof HeapView heap
            ? byArray.computeIfAbsent(heap.array(), a -> new ArrayList<>(2))
            : direct;
    for (Use other : others) {
      if (other.task() != use.task() && other.view().overlaps(use.view())) {
        throw CollectiveException.usage(
            ErrorCode.ALIASED_VIEWS,
            "%s and %s bring the same memory (%s) to one call",
            table.describe(other.task()),
            table.describe(use.task()),
            use.view());
      }
    }
    others.add(use);
  }
}
