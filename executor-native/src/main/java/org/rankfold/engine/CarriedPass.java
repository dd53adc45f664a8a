// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.errors.OutState;
import org.rankfold.fold.Fold;
import org.rankfold.view.View;

/** An all-reduce whose addends lie in the records: every task folds all of them into its output. */
final class CarriedPass implements CallBody.Pass {
  private final Call call;
  private final Fold fold;

  CarriedPass(Call call, Fold fold) {
    this.call = call;
    this.fold = fold;
  }

  @Override
  public void run() {
    View[] addends = new View[call.table.world()];
    for (int rank = 0; rank < addends.length; rank++) {
      addends[rank] = call.input(rank);
    }
    call.outState = OutState.PARTLY_WRITTEN;
    fold.fold(call.header().contract(), addends, new View[] {call.own.outputs().get(0)});
  }

  @Override
  public void drop() {}
}
