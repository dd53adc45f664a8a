// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A peer's board and those of its segments that this task has needed so far. Owned by the task's
 * thread; the board is also read by the watch.
 */
final class PeerSegments {
  private final String who;
  private final ProcessIdentity process;
  private final MappedByteBuffer boardBytes;
  private final Board board;
  private final List<MappedByteBuffer> mapped = new ArrayList<>();

  private PeerSegments(String who, ProcessIdentity process, MappedByteBuffer boardBytes) {
    this.who = who;
    this.process = process;
    this.boardBytes = boardBytes;
    this.board = new Board(boardBytes);
  }

  /** Maps the board that a row speaks of; BOOTSTRAP_FAILED or STALE_GROUP when it is another's. */
  static PeerSegments attach(String who, ProcessIdentity own, SegmentRow row, int byteCount) {
    ProcessIdentity process = row.process();
    String separation = own.separation(process);
    if (separation != null) {
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED, who + " shares no memory with this process: " + separation);
    }
    if (process.isGone()) {
      throw stale(who, process, "is gone");
    }
    if (row.byteCount() != byteCount) {
      throw stale(who, process, "has bytes=" + row.byteCount() + " != " + byteCount);
    }
    MappedByteBuffer boardBytes;
    try {
      boardBytes = map(process, own.user(), row.fileNumber(), byteCount);
    } catch (IOException e) {
      if (process.isGone()) {
        throw stale(who, process, "is gone");
      }
      String why = e instanceof NoSuchFileException ? "has closed its segment: " : "";
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED, who + ", process " + process.pid() + ": " + why + e, e);
    }
    PeerSegments segments = new PeerSegments(who, process, boardBytes);
    String difference = segments.board.difference(row.nonce());
    if (difference != null) {
      segments.unmap();
      throw stale(who, process, "has another segment: " + difference);
    }
    return segments;
  }

  private static CollectiveException stale(String who, ProcessIdentity process, String what) {
    return new CollectiveException(
        ErrorCode.STALE_GROUP,
        who + ", process " + process.pid() + " of start=" + process.startTicks() + ", " + what);
  }

  private static MappedByteBuffer map(
      ProcessIdentity process, long user, int fileNumber, long byteCount) throws IOException {
    Path file = process.folder().resolve("fd").resolve(Integer.toString(fileNumber));
    long owner = ((Number) Files.getAttribute(file, "unix:uid")).longValue();
    if (owner != user) {
      throw new IOException(file + " is of user=" + owner + " != " + user);
    }
    return Uninterrupted.run(() -> map(file, byteCount));
  }

  private static MappedByteBuffer map(Path file, long byteCount) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() != byteCount) {
        throw new IOException(file + " has bytes=" + channel.size() + " != " + byteCount);
      }
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, byteCount);
    }
  }

  Board board() {
    return board;
  }

  ProcessIdentity process() {
    return process;
  }

  /** A stretch of a segment, which is mapped when it is first needed. */
  ByteBuffer bytes(Place place, int byteCount) {
    int segment = place.segment();
    if (segment < 0 || segment >= board.segmentCount()) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL,
          who + " names segment=" + segment + " of " + board.segmentCount() + " segments");
    }
    while (mapped.size() <= segment) {
      mapped.add(null);
    }
    MappedByteBuffer bytes = mapped.get(segment);
    if (bytes == null) {
      bytes = map(segment);
      mapped.set(segment, bytes);
    }
    if (place.offset() < 0 || byteCount < 0 || place.offset() > bytes.capacity() - byteCount) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL,
          who + " names bytes=" + byteCount + " at=" + place.offset() + " of " + bytes.capacity());
    }
    return bytes.slice(place.offset(), byteCount);
  }

  private MappedByteBuffer map(int segment) {
    try {
      return map(
          process,
          process.user(),
          board.segmentFileNumber(segment),
          board.segmentByteCount(segment));
    } catch (IOException e) {
      throw new CollectiveException(
          process.isGone() ? ErrorCode.PEER_FAILED : ErrorCode.INTERNAL,
          who + ", process " + process.pid() + ": segment " + segment + ": " + e,
          e);
    }
  }

  /** Unmaps everything; nobody may touch the board or a segment again. */
  void unmap() {
    Mappings.unmap(boardBytes);
    for (MappedByteBuffer segment : mapped) {
      if (segment != null) {
        Mappings.unmap(segment);
      }
    }
    mapped.clear();
  }
}
