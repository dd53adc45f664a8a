// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.rankfold.memory.Arena;
import org.rankfold.memory.ArenaSource;

/**
 * Arenas in segments: a large one has a segment of its own, small ones share. What is given back is
 * zeroed and lent again, the first stretch that fits; segments go when the task leaves.
 */
final class SegmentPool implements ArenaSource {
  private static final int SMALL_SEGMENT_BYTES = 4 << 20;
  private static final int LARGE_BYTES = 1 << 20;
  private static final int ZEROS = 64 * 1024;

  private final OwnSegments segments;

  /** By segment: offset and size of each free stretch, never two that touch. */
  private final Map<Integer, TreeMap<Integer, Integer>> free = new HashMap<>();

  SegmentPool(OwnSegments segments) {
    this.segments = segments;
  }

  @Override
  public synchronized Block take(int byteCount) {
    segments.requireOpen();
    long aligned =
        (Math.max(1L, byteCount) + Arena.ALIGNMENT_BYTES - 1)
            / Arena.ALIGNMENT_BYTES
            * Arena.ALIGNMENT_BYTES;
    int size = (int) Math.min(Integer.MAX_VALUE, aligned);
    Place reused = reused(size);
    Place place = reused == null ? fresh(size) : reused;
    MappedByteBuffer bytes = segments.bytes(place.segment()).slice(place.offset(), byteCount);
    return new Block(bytes, () -> giveBack(place, size));
  }

  private Place fresh(int size) {
    boolean isLarge = size >= LARGE_BYTES;
    int segment = segments.add(isLarge ? size : SMALL_SEGMENT_BYTES, true);
    TreeMap<Integer, Integer> rest = new TreeMap<>();
    if (!isLarge) {
      rest.put(size, SMALL_SEGMENT_BYTES - size);
    }
    free.put(segment, rest);
    return new Place(segment, 0);
  }

  private Place reused(int size) {
    for (Map.Entry<Integer, TreeMap<Integer, Integer>> segment : free.entrySet()) {
      for (Map.Entry<Integer, Integer> stretch : segment.getValue().entrySet()) {
        int offset = stretch.getKey();
        int rest = stretch.getValue() - size;
        if (rest >= 0) {
          segment.getValue().remove(offset);
          if (rest > 0) {
            segment.getValue().put(offset + size, rest);
          }
          zero(segments.bytes(segment.getKey()).slice(offset, size));
          return new Place(segment.getKey(), offset);
        }
      }
    }
    return null;
  }

  private static void zero(ByteBuffer bytes) {
    byte[] zeros = new byte[Math.min(ZEROS, bytes.capacity())];
    while (bytes.hasRemaining()) {
      bytes.put(zeros, 0, Math.min(zeros.length, bytes.remaining()));
    }
  }

  private synchronized void giveBack(Place place, int size) {
    TreeMap<Integer, Integer> stretches = free.get(place.segment());
    int offset = place.offset();
    int joined = size;
    Map.Entry<Integer, Integer> before = stretches.lowerEntry(offset);
    if (before != null && before.getKey() + before.getValue() == offset) {
      stretches.remove(before.getKey());
      offset = before.getKey();
      joined += before.getValue();
    }
    Integer after = stretches.remove(place.offset() + size);
    stretches.put(offset, joined + (after == null ? 0 : after));
  }
}
