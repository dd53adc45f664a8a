// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import org.rankfold.deadline.AbortLatch;
import org.rankfold.memory.ArenaSource;
import org.rankfold.view.View;

/**
 * Moves bytes between the tasks of one group; it never adds. Every method returns at once: whoever
 * calls waits, with a deadline and an eye on {@link #abortLatch()}. One thread at a time calls,
 * except for the latch, which everybody may trip.
 *
 * <p>A call runs as: {@link #publish} by everybody, {@link #recordOf} until all are there, then for
 * mapped pairs {@link #enter}, work in each other's memory, {@link #leave}, {@link #hasLeft} until
 * all are out; for staged pairs {@link #offer}, {@link #poll}, {@link #isFlushed}. A staged peer
 * may be one call ahead: its deliveries of the next call come out of {@link #poll} too.
 */
public interface Transport extends AutoCloseable {
  /**
   * The name users choose it by.
   *
   * @return for example {@code loopback}
   */
  String name();

  /**
   * How this task and a peer exchange the bytes of a call, from what both said of it: both sides
   * conclude the same. A transport that maps only memory of its own stages a pair that brings other
   * memory.
   *
   * @param peer another task
   * @param own this task's record of the call
   * @param theirs the peer's record of the call
   * @return the path of the pair in this call
   */
  PairPath path(int peer, CallRecord own, CallRecord theirs);

  /**
   * How the transport's pairs exchange bytes, for messages.
   *
   * @return {@code mapped}, {@code staged}, or {@code mixed} where it depends on pair or memory
   */
  default String pathName() {
    return "staged";
  }

  /**
   * Where arenas should lie so that peers can reach them.
   *
   * @return a source, direct memory by default; after {@link #close()} it may refuse
   */
  default ArenaSource arenas() {
    return ArenaSource.DIRECT;
  }

  /**
   * How many tasks of the group share this machine's cores, this one included.
   *
   * @return tasks, at least 1
   */
  int localTasks();

  /**
   * The group's latch as this task sees it: tripping it reaches every task, and every task's
   * failure trips it.
   *
   * @return the latch
   */
  AbortLatch abortLatch();

  /**
   * Says what this task wants of its next call and lends the record's views to mapped peers.
   *
   * @param record the call; its number is one above the last published
   */
  void publish(CallRecord record);

  /**
   * What a peer said of a call. Valid until this task publishes the call after next.
   *
   * @param peer another task
   * @param call a call this task has published
   * @return the record, its views only when this process can reach them; null when the peer has not
   *     published it
   */
  CallRecord recordOf(int peer, long call);

  /**
   * The last call a peer is known to have published.
   *
   * @param peer another task
   * @return a call's number, 0 before the first
   */
  long lastPublished(int peer);

  /**
   * Whether a peer closed its side in good order and will publish nothing more.
   *
   * @param peer another task
   * @return true once closed
   */
  boolean isClosed(int peer);

  /**
   * Enters mapped peers' memory. Ordered against the latch: when a peer trips it first, this
   * returns false; when this task enters first, that peer sees {@link #isInside}.
   *
   * @param call the call whose records are all there
   * @return false when the group was aborted; then nothing may be touched
   */
  boolean enter(long call);

  /**
   * Says that this task is out of every peer's memory, with all its writes visible to who sees it.
   *
   * @param call the call entered
   * @param completed whether this task did all its work in the call
   */
  void leave(long call, boolean completed);

  /**
   * Whether a mapped peer that has left a call did all its work in it.
   *
   * @param peer another task
   * @param call a call's number
   * @return false when the peer left early
   */
  boolean hasCompleted(int peer, long call);

  /**
   * Whether a mapped peer has left a call.
   *
   * @param peer another task
   * @param call a call's number
   * @return true once it left, with all its writes visible
   */
  boolean hasLeft(int peer, long call);

  /**
   * Whether a peer is inside mapped memory, which may be this task's; false where nothing is ever
   * mapped.
   *
   * @param peer another task
   * @return true between its enter and its leave
   */
  boolean isInside(int peer);

  /**
   * The last call in which a mapped peer entered memory.
   *
   * @param peer another task
   * @return a call's number, 0 when it never did
   */
  long lastEntered(int peer);

  /**
   * Whether {@link #enter}, {@link #isInside} and {@link #hasLeft} speak of every peer, so that
   * tasks can be in each other's device memory too. Then a peer that died is inside nothing.
   *
   * @return false where nothing is ever mapped
   */
  default boolean knowsWhoIsInside() {
    return false;
  }

  /**
   * Whether a peer closed its side or died: it will say nothing more.
   *
   * @param peer another task
   * @return true once gone
   */
  default boolean isGone(int peer) {
    return isClosed(peer);
  }

  /**
   * Takes bytes for a staged peer, in order for each pair, if there is room for them.
   *
   * @param peer another task
   * @param tag what the bytes are
   * @param source the bytes, borrowed until {@link #isFlushed}; at most a chunk
   * @return false when there is no room now; then nothing was taken
   */
  boolean offer(int peer, DeliveryTag tag, View source);

  /**
   * The next delivery to this task.
   *
   * @return the delivery, or null when none has arrived
   */
  Delivery poll();

  /**
   * Whether every source taken by {@link #offer} may be written again.
   *
   * @return true when nothing is borrowed
   */
  boolean isFlushed();

  /**
   * Whether looking for news costs so little that a waiting task may look thousands of times before
   * it lets others have the core.
   *
   * @return false when a look is a system call
   */
  default boolean isLookCheap() {
    return true;
  }

  /** Where the bytes of a delivery belong, for transports that can put them there themselves. */
  @FunctionalInterface
  interface Landing {
    /**
     * The place of a delivery that is about to arrive.
     *
     * @param sender a task
     * @param tag what the bytes are
     * @return the place, or null when they must go to a slot
     */
    View placeOf(int sender, DeliveryTag tag);
  }

  /**
   * Allows the transport to write deliveries where they belong, inside {@link #poll} only, instead
   * of to a slot; such a delivery's view is its place. By default a transport uses slots.
   *
   * @param landing where deliveries belong, or null to end the permission
   */
  default void land(Landing landing) {}

  /**
   * Lets go of every source taken by {@link #offer} and of every place of a {@link Landing}, at
   * once; for a call that failed, after the latch tripped. Nothing can be sent afterwards.
   */
  default void abandon() {}

  /**
   * Whether a call's first bytes should leave together with its header, before the peers' headers
   * have come; only for a transport that stages every pair whatever the records say. Their receiver
   * drops them when the call is refused.
   *
   * @return true where a message's way costs more than its bytes; equal on all tasks
   */
  default boolean isEager() {
    return false;
  }

  /**
   * Whether every pair of tasks is staged in every call, whatever the records say, and deliveries
   * come in no order but the sender's.
   *
   * @return true where the engine may let sums travel instead of addends; equal on all tasks
   */
  default boolean stagesAll() {
    return false;
  }

  /**
   * Up to which size of an addend every task should send its addends whole to every other and fold
   * them all itself, which takes one message's time instead of two.
   *
   * @return bytes, 0 for never; equal on all tasks
   */
  default long smallBytes() {
    return 0;
  }

  /** Leaves the group in good order; idempotent. Peers see {@link #isClosed}. */
  @Override
  void close();
}
