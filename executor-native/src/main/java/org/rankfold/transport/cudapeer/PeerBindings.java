// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rankfold.cuda.CudaIpc;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.OwnMemory.Allocation;
import org.rankfold.transport.cudapeer.OwnMemory.Place;

/**
 * Which memory a call's number in a header means. A task tells all others once where the views of a
 * call lie, and by which handles to open what they have not heard of; from then on a header names
 * the binding. Every task tells at the same points of its calls, a row of equal length each. One
 * thread at a time.
 */
final class PeerBindings {
  /** A task's bindings; the oldest one's number is used again. */
  static final int SLOTS = 1024;

  /** No binding of this task's has to be told. */
  private static final int NOTHING = -1;

  private static final int HEAD = 4;
  private static final int PLACE = 2;
  private static final int HANDLE_LONGS = CudaIpc.HANDLE_BYTES / Long.BYTES;
  private static final int INTRODUCTION = 3 + HANDLE_LONGS;
  private static final int MOST_RETIRED = 16;

  private final RankTable table;
  private final int task;
  private final List<Boolean> isLocal;
  private final OwnMemory memory;
  private final PeerMappings mappings;
  private final int mostPlaces;
  private final boolean hasForeign;
  private final Map<List<Place>, Integer> own = new HashMap<>();
  private final List<List<Place>> ownBySlot = new ArrayList<>();
  private final long[][][] addresses;
  private int nextSlot;
  private List<Place> pending;
  private int pendingSlot;
  private List<Allocation> retired = List.of();

  /**
   * @param isLocal by task, whether it lives in this process
   */
  PeerBindings(
      RankTable table, int task, List<Boolean> isLocal, OwnMemory memory, PeerMappings mappings) {
    this.table = table;
    this.task = task;
    this.isLocal = List.copyOf(isLocal);
    this.memory = memory;
    this.mappings = mappings;
    this.mostPlaces = 2 * table.rankCount(0);
    this.addresses = new long[table.tasks()][SLOTS][];
    this.hasForeign = isLocal.contains(false);
    for (int slot = 0; slot < SLOTS; slot++) {
      ownBySlot.add(null);
    }
  }

  /** The binding of these places, or -1 when peers have to be told first. */
  int slotOf(List<Place> places) {
    return memory.hasTooMuchIdle() ? -1 : own.getOrDefault(places, -1);
  }

  /** The length of a row, the same for every task. */
  int rowLength() {
    return HEAD + mostPlaces * (PLACE + INTRODUCTION) + MOST_RETIRED;
  }

  /** What this task tells: places that have no binding yet, or null when it has none. */
  long[] row(List<Place> placesOrNull) {
    // Whoever tells has heard what was told before, and let go of what was retired then.
    onNextCall();
    long[] row = new long[rowLength()];
    pending = placesOrNull;
    pendingSlot = NOTHING;
    row[0] = NOTHING;
    if (placesOrNull != null) {
      if (placesOrNull.size() > mostPlaces) {
        throw new CollectiveException(
            ErrorCode.INTERNAL, "places=" + placesOrNull.size() + " > " + mostPlaces);
      }
      pendingSlot = own.getOrDefault(placesOrNull, nextSlot);
      if (pendingSlot == nextSlot) {
        nextSlot = (nextSlot + 1) % SLOTS;
      }
      row[0] = pendingSlot;
      row[1] = placesOrNull.size();
      int at = HEAD;
      for (Place place : placesOrNull) {
        row[at] = place.allocation();
        row[at + 1] = place.offset();
        at += PLACE;
        Allocation allocation = memory.of(place.allocation());
        if (memory.tell(allocation)) {
          introduce(allocation, row);
        }
      }
    }
    retired = memory.retire(MOST_RETIRED);
    row[3] = retired.size();
    for (int i = 0; i < retired.size(); i++) {
      row[HEAD + mostPlaces * (PLACE + INTRODUCTION) + i] = retired.get(i).number;
    }
    return row;
  }

  private void introduce(Allocation allocation, long[] row) {
    int at = HEAD + mostPlaces * PLACE + (int) row[2]++ * INTRODUCTION;
    row[at] = allocation.number;
    row[at + 1] = allocation.base;
    row[at + 2] = allocation.bytes;
    if (hasForeign) {
      byte[] handle = CudaIpc.handle(allocation.view(memory.device()));
      ByteBuffer.wrap(handle)
          .order(ByteOrder.LITTLE_ENDIAN)
          .asLongBuffer()
          .get(row, at + 3, HANDLE_LONGS);
    }
  }

  /** Takes in what all tasks told, this one included. */
  void heard(long[][] rows) {
    for (int peer = 0; peer < rows.length; peer++) {
      if (peer != task) {
        hear(peer, rows[peer]);
      }
    }
    if (pending != null) {
      List<Place> before = ownBySlot.set(pendingSlot, pending);
      if (before != null && !before.equals(pending)) {
        own.remove(before);
      }
      own.put(pending, pendingSlot);
      long[] here = new long[pending.size()];
      for (int i = 0; i < here.length; i++) {
        Place place = pending.get(i);
        here[i] = memory.of(place.allocation()).base + place.offset();
      }
      addresses[task][pendingSlot] = here;
    }
    for (Allocation gone : retired) {
      own.entrySet()
          .removeIf(
              binding ->
                  binding.getKey().stream().anyMatch(place -> place.allocation() == gone.number));
    }
  }

  private void hear(int peer, long[] row) {
    int introduction = HEAD + mostPlaces * PLACE;
    for (int i = 0; i < row[2]; i++, introduction += INTRODUCTION) {
      int number = (int) row[introduction];
      long bytes = row[introduction + 2];
      if (isLocal.get(peer)) {
        mappings.addLocal(peer, number, row[introduction + 1], bytes);
      } else {
        byte[] handle = new byte[CudaIpc.HANDLE_BYTES];
        ByteBuffer.wrap(handle)
            .order(ByteOrder.LITTLE_ENDIAN)
            .asLongBuffer()
            .put(row, introduction + 3, HANDLE_LONGS);
        mappings.open(peer, number, bytes, handle);
      }
    }
    if (row[0] != NOTHING) {
      long[] here = new long[(int) row[1]];
      for (int i = 0; i < here.length; i++) {
        int at = HEAD + i * PLACE;
        here[i] = mappings.address(peer, (int) row[at], row[at + 1]);
      }
      addresses[peer][(int) row[0]] = here;
    }
    int firstRetired = HEAD + mostPlaces * (PLACE + INTRODUCTION);
    for (int i = 0; i < row[3]; i++) {
      mappings.drop(peer, (int) row[firstRetired + i]);
    }
  }

  /** All tasks have made a call since they last told: they have let go of what was retired. */
  void onNextCall() {
    if (!retired.isEmpty()) {
      memory.free(retired);
      retired = List.of();
    }
  }

  /** Where a task's views of a binding lie, as this process sees them: inputs, then outputs. */
  long[] addresses(int of, int slot) {
    long[] found = addresses[of][slot];
    if (found == null) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL,
          table.describe(of) + " names binding " + slot + ", of which it has not told");
    }
    return found;
  }
}
