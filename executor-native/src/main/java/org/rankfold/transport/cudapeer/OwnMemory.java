// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaIpc;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

/**
 * What peers may map of a task's device memory: whole allocations, made here or somebody else's.
 * One that a peer has heard of is freed only when every peer has let go of it; until then the same
 * size is handed out again. Thread-safe.
 */
final class OwnMemory {
  /** A view's place: an allocation's number and the byte in it. */
  record Place(int allocation, long offset) {}

  /** An allocation that peers may map. Its number is never used again. */
  static final class Allocation {
    final int number;
    final long base;
    final long bytes;
    private final DeviceMemory memory;
    private boolean isTold;
    private boolean isIdle;
    private boolean isRetired;

    private Allocation(int number, long base, long bytes, DeviceMemory memory) {
      this.number = number;
      this.base = base;
      this.bytes = bytes;
      this.memory = memory;
    }

    DeviceMemory memory() {
      return memory;
    }

    DeviceView view(CudaDevice device) {
      return DeviceView.of(device, base, DType.I32, bytes / Integer.BYTES);
    }
  }

  /**
   * The driver hands out smaller stretches from pages of this size, which would be shared whole.
   */
  private static final long PAGE_BYTES = 2L << 20;

  /** So much idle memory is kept for its size to be asked for again. */
  private static final long IDLE_BYTES = 1L << 30;

  private final CudaDevice device;
  private final TreeMap<Long, Allocation> byBase = new TreeMap<>();
  private int numbers;
  private long idleBytes;
  private boolean isClosed;
  private boolean isLetGo;

  OwnMemory(CudaDevice device) {
    this.device = device;
  }

  CudaDevice device() {
    return device;
  }

  /** Room for at least so many bytes that peers may map; theirs who asked until given back. */
  synchronized Allocation allocate(long bytes) {
    if (isClosed) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the communicator is closed");
    }
    long size = Math.max(1, (bytes + PAGE_BYTES - 1) / PAGE_BYTES) * PAGE_BYTES;
    for (Allocation idle : byBase.values()) {
      if (idle.isIdle && !idle.isRetired && idle.bytes == size) {
        idle.isIdle = false;
        idleBytes -= size;
        return idle;
      }
    }
    DeviceMemory memory = DeviceMemory.allocate(device, size);
    return add(memory.view(DType.I32).address(), size, memory);
  }

  /**
   * Lets peers map somebody else's allocation, as long as the group lives.
   *
   * @throws CollectiveException UNSUPPORTED where it cannot be shared, with the driver's reason
   */
  synchronized void adopt(long address, boolean withOtherProcesses) {
    if (find(address, 0) != null) {
      return;
    }
    try {
      long[] whole = CudaIpc.allocation(device, address);
      Allocation adopted = add(whole[0], whole[1], null);
      if (withOtherProcesses) {
        try {
          CudaIpc.handle(adopted.view(device));
        } catch (CollectiveException e) {
          byBase.remove(adopted.base);
          throw e;
        }
      }
    } catch (CollectiveException e) {
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED,
          "memory at " + Long.toHexString(address) + " cannot be shared: " + e.getMessage(),
          e);
    }
  }

  private Allocation add(long base, long bytes, DeviceMemory memory) {
    Allocation made = new Allocation(numbers++, base, bytes, memory);
    byBase.put(base, made);
    return made;
  }

  /** Where a stretch lies, or null when peers may not map it. */
  synchronized Place find(long address, long bytes) {
    Map.Entry<Long, Allocation> below = byBase.floorEntry(address);
    if (below == null || below.getValue().isIdle) {
      return null;
    }
    Allocation found = below.getValue();
    long offset = address - found.base;
    return offset + bytes <= found.bytes ? new Place(found.number, offset) : null;
  }

  synchronized Allocation of(int number) {
    return byBase.values().stream().filter(a -> a.number == number).findFirst().orElseThrow();
  }

  /** Peers hear of the allocation now. */
  synchronized boolean tell(Allocation allocation) {
    boolean isNew = !allocation.isTold;
    allocation.isTold = true;
    return isNew;
  }

  /** Takes back what {@link #allocate} gave; nothing that uses it is in flight. */
  synchronized void giveBack(Allocation allocation) {
    if (allocation.isIdle || byBase.get(allocation.base) != allocation) {
      return;
    }
    if (!allocation.isTold || isLetGo) {
      free(allocation);
    } else {
      allocation.isIdle = true;
      idleBytes += allocation.bytes;
    }
  }

  /** Takes some idle allocations for good, when there are too many: peers are to let go of them. */
  synchronized List<Allocation> retire(int most) {
    List<Allocation> retired = new ArrayList<>();
    for (Allocation each : byBase.values()) {
      if (idleBytes > IDLE_BYTES && each.isIdle && !each.isRetired && retired.size() < most) {
        each.isRetired = true;
        idleBytes -= each.bytes;
        retired.add(each);
      }
    }
    return retired;
  }

  synchronized boolean hasTooMuchIdle() {
    return idleBytes > IDLE_BYTES;
  }

  /** Every peer has let go of them. */
  synchronized void free(List<Allocation> retired) {
    retired.forEach(this::free);
  }

  private void free(Allocation allocation) {
    byBase.remove(allocation.base);
    if (allocation.memory != null) {
      allocation.memory.close();
    }
  }

  /**
   * Hands out no more, and frees what is idle; what is still in use is freed when given back. What
   * a peer may still map is not freed at all.
   *
   * @param letGo whether no peer maps anything any more
   * @return bytes that had to be left allocated, so far
   */
  synchronized long close(boolean letGo) {
    long left = 0;
    isClosed = true;
    isLetGo = letGo;
    for (Allocation each : List.copyOf(byBase.values())) {
      if (each.isIdle && letGo) {
        free(each);
      } else if (each.memory != null && each.isTold && !letGo) {
        left += each.bytes;
      }
    }
    return left;
  }
}
