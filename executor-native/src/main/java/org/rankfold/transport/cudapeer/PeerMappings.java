// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.HashMap;
import java.util.Map;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaIpc;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Peers' allocations as this process sees them: each is opened once, and closed when its owner
 * retires it or the group ends. One thread at a time.
 */
final class PeerMappings implements AutoCloseable {
  private record Mapping(long address, long bytes, boolean isOpened) {}

  private final CudaDevice device;
  private final Map<Long, Mapping> mappings = new HashMap<>();

  PeerMappings(CudaDevice device) {
    this.device = device;
  }

  private static long key(int peer, int allocation) {
    return (long) peer << 32 | (allocation & 0xffffffffL);
  }

  /** Memory of a task of this process: its address is the same here. */
  void addLocal(int peer, int allocation, long base, long bytes) {
    mappings.putIfAbsent(key(peer, allocation), new Mapping(base, bytes, false));
  }

  /** Memory of another process; opens it unless that has been done. */
  long open(int peer, int allocation, long bytes, byte[] handle) {
    return mappings
        .computeIfAbsent(
            key(peer, allocation), k -> new Mapping(CudaIpc.open(device, handle), bytes, true))
        .address();
  }

  /** The address here of a byte of a peer's allocation, which it has told before. */
  long address(int peer, int allocation, long offset) {
    Mapping mapping = mappings.get(key(peer, allocation));
    if (mapping == null || offset < 0 || offset > mapping.bytes()) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL,
          "task "
              + peer
              + " names byte "
              + offset
              + " of its allocation "
              + allocation
              + ", of which "
              + (mapping == null ? "it has not told" : mapping.bytes() + " bytes are mapped"));
    }
    return mapping.address() + offset;
  }

  /** Lets go of one; nothing of this task is in flight on it. */
  void drop(int peer, int allocation) {
    Mapping mapping = mappings.remove(key(peer, allocation));
    if (mapping != null && mapping.isOpened()) {
      CudaIpc.close(device, mapping.address());
    }
  }

  int count() {
    return mappings.size();
  }

  /** Lets go of all; nothing of this task is in flight on them. */
  @Override
  public void close() {
    for (Mapping mapping : mappings.values()) {
      if (mapping.isOpened()) {
        CudaIpc.close(device, mapping.address());
      }
    }
    mappings.clear();
  }
}
