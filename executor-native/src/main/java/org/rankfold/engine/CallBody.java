// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

/** What a collective does between the start of a call and its exit. */
interface CallBody {
  /** A call on its way. */
  interface Pass {
    /** Sends what may leave before the peers' headers have come: nothing, unless it says so. */
    default void sendAhead() {}

    /** After {@link #run}, once no peer is inside this task's memory any more. */
    default void finish() {}

    /** Moves and folds, once all headers agreed; waits through the engine's {@link Await} only. */
    void run();

    /**
     * Takes back what was sent ahead, since the call was refused; the memory is free afterwards.
     */
    default void withdraw() {}

    /** Gives back what the transport lent; the call has failed. */
    void drop();

    /**
     * Whether nothing works in this task's memory any more on behalf of a call that was dropped.
     */
    default boolean isFree() {
      return true;
    }
  }

  /** The pass of a call that this task does not refuse. */
  Pass of(Call call);
}
