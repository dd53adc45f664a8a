// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.InternalApi;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.peer.cuda.PathTable;
import org.rankfold.peer.cuda.PeerMemory;
import org.rankfold.peer.cuda.PeerSeat;
import org.rankfold.peer.cuda.PeerTimeouts;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.OwnMemory.Allocation;
import org.rankfold.transport.cudapeer.OwnMemory.Place;
import org.rankfold.view.DeviceView;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a task of a group reaches of its peers' device memory, and they of its own: addresses,
 * barrier words, events. It adds nothing and enqueues nothing.
 *
 * <p>The rule of lifetimes: peers' memory is unmapped by {@link #unmap}, when nothing of this task
 * is in flight on it; own memory that a peer has heard of is freed by {@link #free}, when every
 * peer has unmapped it, and else not at all. {@link #allocate}, {@link #giveBack} and {@link
 * #register} are for any thread, the rest for one at a time.
 */
@InternalApi
public final class PeerReach {
  private static final Logger LOG = LoggerFactory.getLogger(PeerReach.class);

  /** What peers have told of all they reach, parsed. */
  record Joined(
      CudaDevice device,
      RankTable table,
      int task,
      PeerArm arm,
      PeerOptions options,
      List<Boolean> isLocal,
      PeerMemory ownOrNull,
      List<PeerSeat> seats,
      PeerMappings words,
      List<CudaEvent> ready) {}

  private final Joined joined;
  private final OwnMemory memory;
  private final PeerMappings mappings;
  private final PeerBindings bindings;
  private final PathTable paths;
  private boolean isUnmapped;
  private boolean isFreed;

  PeerReach(Joined joined) {
    this.joined = joined;
    this.memory = new OwnMemory(joined.device());
    this.mappings = new PeerMappings(joined.device());
    this.bindings =
        new PeerBindings(joined.table(), joined.task(), joined.isLocal(), memory, mappings);
    this.paths = joined.options().table(joined.arm(), joined.table().tasks());
  }

  /**
   * The name users choose it by.
   *
   * @return {@code peer}
   */
  public String name() {
    return "peer";
  }

  /**
   * This task's device.
   *
   * @return the device that all its views are of
   */
  public CudaDevice device() {
    return joined.device();
  }

  /**
   * How tasks wait for one another.
   *
   * @return the same on every task, not NONE
   */
  public PeerArm arm() {
    return joined.arm();
  }

  /**
   * Which path a payload takes.
   *
   * @return a table, the same on every task
   */
  public PathTable paths() {
    return paths;
  }

  /**
   * Bounds of kernels that wait on the device.
   *
   * @return the bounds
   */
  public PeerTimeouts timeouts() {
    return joined.options().timeouts();
  }

  /**
   * This task's words and staging.
   *
   * @return of the spinning arm, else null
   */
  public PeerMemory own() {
    return joined.ownOrNull();
  }

  /**
   * Every task's words and staging, as this process sees them.
   *
   * @return in task order, of the spinning arm, else none
   */
  public List<PeerSeat> seats() {
    return joined.seats();
  }

  /**
   * Every task's event of the event arm.
   *
   * @return in task order; this task marks its own
   */
  public List<CudaEvent> ready() {
    return joined.ready();
  }

  /** A stretch of own memory that peers may map. */
  public static final class Stretch {
    private final Allocation allocation;

    private Stretch(Allocation allocation) {
      this.allocation = allocation;
    }

    /**
     * The memory.
     *
     * @return memory that the reach owns: not to be closed
     */
    public DeviceMemory memory() {
      return allocation.memory();
    }
  }

  /**
   * Memory that peers may map.
   *
   * @param bytes at least so many
   * @return the stretch, to be given back
   * @throws org.rankfold.errors.CollectiveException TOO_LITTLE_MEMORY; CLOSED
   */
  public Stretch allocate(long bytes) {
    return new Stretch(memory.allocate(bytes));
  }

  /**
   * Takes a stretch back. When peers have heard of it, it is freed once they have let go.
   *
   * @param stretch nothing that uses it is in flight
   */
  public void giveBack(Stretch stretch) {
    memory.giveBack(stretch.allocation);
  }

  /**
   * Lets peers map the allocation that a view lies in, as long as the group lives.
   *
   * @param view of this task's device
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED where it cannot be shared, or lies
   *     on another device
   */
  public void register(DeviceView view) {
    if (view.port() != device()) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED, "%s is not on device=%s", view, device().name());
    }
    memory.adopt(view.address(), joined.isLocal().contains(false));
  }

  /**
   * Whether peers may map a view.
   *
   * @param view of this task's device
   * @return false when it has to be copied first
   */
  public boolean isShared(DeviceView view) {
    return view.count() == 0 || memory.find(view.address(), view.byteCount()) != null;
  }

  /**
   * The binding of a call's views.
   *
   * @param views inputs, then outputs, all of them shared
   * @return its number, or -1 when it has to be told first
   */
  public int binding(List<DeviceView> views) {
    return bindings.slotOf(places(views));
  }

  private List<Place> places(List<DeviceView> views) {
    List<Place> places = new ArrayList<>(views.size());
    for (DeviceView view : views) {
      places.add(memory.find(view.address(), view.byteCount()));
    }
    return places;
  }

  /**
   * What this task tells all others when some binding is new.
   *
   * @param viewsOrNull as in {@link #binding}, or null when this task's is known
   * @return a row as long as every other task's
   */
  public long[] row(List<DeviceView> viewsOrNull) {
    return bindings.row(viewsOrNull == null ? null : places(viewsOrNull));
  }

  /**
   * Takes in what all told; opens what is new.
   *
   * @param rows by task
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED when something cannot be
   *     opened; PROTOCOL
   */
  public void heard(long[][] rows) {
    bindings.heard(rows);
  }

  /** All tasks have published a call since they told. */
  public void onNextCall() {
    bindings.onNextCall();
  }

  /**
   * Where a task's views lie, as this process sees them.
   *
   * @param task any
   * @param binding what its header names
   * @return addresses of inputs, then outputs
   */
  public long[] addresses(int task, int binding) {
    return bindings.addresses(task, binding);
  }

  /** Lets go of peers' memory; nothing of this task is in flight. Idempotent. */
  public void unmap() {
    if (!isUnmapped) {
      isUnmapped = true;
      mappings.close();
      joined.words().close();
      for (int peer = 0; peer < joined.ready().size(); peer++) {
        if (peer != joined.task() && !joined.isLocal().get(peer)) {
          joined.ready().get(peer).close();
        }
      }
    }
  }

  /**
   * Frees own memory. Idempotent.
   *
   * @param isLetGo whether every peer has unmapped it or is dead; else what peers have heard of is
   *     left allocated
   */
  public void free(boolean isLetGo) {
    if (isFreed) {
      return;
    }
    isFreed = true;
    long left = memory.close(isLetGo);
    if (isLetGo) {
      joined.ready().get(joined.task()).close();
      if (joined.ownOrNull() != null) {
        joined.ownOrNull().close();
      }
    } else {
      LOG.warn(
          "{} bytes of {} stay allocated until the process ends: a peer did not say that it has"
              + " unmapped them",
          left,
          joined.device().name());
    }
  }
}
