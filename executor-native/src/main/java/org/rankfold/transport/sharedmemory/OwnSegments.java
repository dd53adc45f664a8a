// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DirectView;
import org.rankfold.view.View;

/**
 * The segments a task has made: slots, which go when the task leaves, and arenas, which stay mapped
 * while their user refers to them. Thread-safe: arenas are allocated on any thread.
 */
final class OwnSegments {
  private record Made(SegmentFile file, long address, boolean isUsers) {}

  private final Path folder;
  private final Board board;
  private volatile Made[] made = {};
  private boolean closed;

  OwnSegments(Path folder, Board board) {
    this.folder = folder;
    this.board = board;
  }

  /** Makes a segment and shows it to the peers; its number. */
  synchronized int add(int byteCount, boolean isUsers) {
    requireOpen();
    int segment = made.length;
    if (segment == BoardLayout.MOST_SEGMENTS) {
      throw CollectiveException.usage(
          ErrorCode.TOO_LITTLE_MEMORY, "segments=%d: no more for one task", segment);
    }
    SegmentFile file = SegmentFile.create(folder, byteCount);
    Made[] more = Arrays.copyOf(made, segment + 1);
    more[segment] = new Made(file, addressOf(file.bytes()), isUsers);
    made = more;
    board.addSegment(segment, file.fileNumber(), byteCount);
    return segment;
  }

  synchronized void requireOpen() {
    if (closed) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the communicator is closed");
    }
  }

  private static long addressOf(MappedByteBuffer bytes) {
    return ((DirectView) View.of(bytes.slice(0, 0), DType.F32)).address();
  }

  MappedByteBuffer bytes(int segment) {
    return made[segment].file().bytes();
  }

  /** Where a view lies, or null when it is not in one of these segments. */
  Place find(View view) {
    if (!(view instanceof DirectView direct)) {
      return null;
    }
    long address = direct.address();
    Made[] all = made;
    for (int segment = 0; segment < all.length; segment++) {
      long offset = address - all[segment].address();
      if (offset >= 0 && offset + direct.byteCount() <= all[segment].file().bytes().capacity()) {
        return new Place(segment, (int) offset);
      }
    }
    return null;
  }

  synchronized void close() {
    if (!closed) {
      closed = true;
      for (Made segment : made) {
        if (segment.isUsers()) {
          segment.file().closeFile();
        } else {
          segment.file().closeAndUnmap();
        }
      }
      made = new Made[0];
    }
  }
}
