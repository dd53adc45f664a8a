// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.InternalApi;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;

/**
 * A task's board before its group has formed: made first, published as a row, then joined with the
 * rows of all. Either {@link #join} or {@link #close} must follow. One thread.
 */
@InternalApi
public final class SharedSegment implements AutoCloseable {
  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(500);

  private final BoardLayout layout;
  private final int task;
  private final SharedMemoryOptions options;
  private final SegmentRow row;
  private final SegmentFile file;
  private final Board board;
  private final OwnSegments segments;
  private boolean closed;

  private SharedSegment(
      BoardLayout layout, int task, SharedMemoryOptions options, SegmentRow row, SegmentFile file) {
    this.layout = layout;
    this.task = task;
    this.options = options;
    this.row = row;
    this.file = file;
    this.board = new Board(file.bytes());
    this.segments = new OwnSegments(options.folder(), board);
    board.sign(row.nonce());
  }

  /**
   * Makes a task's board.
   *
   * @param table who hosts what
   * @param task this task
   * @param options how bytes will move
   * @return the board, owned by the caller
   * @throws CollectiveException UNSUPPORTED without Linux's /proc or a usable folder;
   *     TOO_LITTLE_MEMORY with the bytes needed and available
   */
  public static SharedSegment create(RankTable table, int task, SharedMemoryOptions options) {
    BoardLayout layout = new BoardLayout(table);
    ProcessIdentity own = ProcessIdentity.own();
    int byteCount = layout.byteCount(task);
    SegmentFile file = SegmentFile.create(options.folder(), byteCount);
    SegmentRow row =
        new SegmentRow(own, file.fileNumber(), byteCount, new SecureRandom().nextLong());
    return new SharedSegment(layout, task, options, row, file);
  }

  /**
   * Why two tasks cannot share memory.
   *
   * @param row one task's
   * @param other another's
   * @return the difference of host, container or user; null when there is none
   * @throws CollectiveException BOOTSTRAP_FAILED when one is no row
   */
  public static String separation(String row, String other) {
    return SegmentRow.parse(row).process().separation(SegmentRow.parse(other).process());
  }

  /**
   * What a folder's file system has room for.
   *
   * @param folder the folder
   * @return bytes
   * @throws CollectiveException UNSUPPORTED when there is no such folder
   */
  public static long availableBytes(Path folder) {
    return SegmentFile.availableBytes(folder);
  }

  /**
   * What a task's slots take once all its pairs have been staged.
   *
   * @param table who hosts what
   * @param task the task
   * @param chunkBytes the largest stretch a slot holds
   * @return bytes
   */
  public static long slotBytes(RankTable table, int task, int chunkBytes) {
    long slots =
        (table.tasks() - 1L) * new BoardLayout(table).addendSlots(task) + BoardLayout.SHARED_SLOTS;
    return table.tasks() == 1 ? 0 : slots * BoardLayout.aligned(Math.max(Long.BYTES, chunkBytes));
  }

  /**
   * What peers need to find the board.
   *
   * @return a line of text
   */
  public String row() {
    return row.text();
  }

  /**
   * Maps all peers' boards and waits until they have mapped this one. Afterwards the transport owns
   * the board; after an error it is closed, and peers that wait are told.
   *
   * @param epoch the group's id, the same on all tasks and for no other group
   * @param rows of all tasks, by task
   * @param timeoutNs how long to wait for peers
   * @return the task's transport, owned by the caller
   * @throws CollectiveException BOOTSTRAP_FAILED when a peer shares no memory with this process or
   *     has given up; STALE_GROUP when a row or board is of another process or group; TIMEOUT,
   *     CANCELLED
   */
  public Transport join(String epoch, List<String> rows, long timeoutNs) {
    PeerSegments[] peers = new PeerSegments[layout.table().tasks()];
    AbortLatch latch = new AbortLatch();
    long nowNs = System.nanoTime();
    PeerWatch watch =
        new PeerWatch(layout.table(), task, board, peers, latch, Long.MAX_VALUE, nowNs);
    try {
      attach(rows, peers);
      long group = group(epoch);
      board.attach(group);
      awaitPeers(peers, group, watch, Deadline.after(nowNs, timeoutNs));
      return new SharedMemoryTransport(this, peers, latch);
    } catch (RuntimeException | Error e) {
      latch.trip(
          e instanceof CollectiveException known
              ? known
              : new CollectiveException(ErrorCode.BOOTSTRAP_FAILED, e.toString(), e));
      watch.tellPeers();
      for (PeerSegments peer : peers) {
        if (peer != null) {
          peer.unmap();
        }
      }
      close();
      throw e;
    }
  }

  private void attach(List<String> rows, PeerSegments... peers) {
    if (rows.size() != peers.length) {
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED, "rows=" + rows.size() + " != tasks=" + peers.length);
    }
    for (int peer = 0; peer < peers.length; peer++) {
      if (peer != task) {
        peers[peer] =
            PeerSegments.attach(
                layout.table().describe(peer),
                row.process(),
                SegmentRow.parse(rows.get(peer)),
                layout.byteCount(peer));
      }
    }
  }

  /** Names the group in 64 bits, never 0. */
  private long group(String epoch) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest((epoch + "/" + layout.table()).getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(hash).getLong() | 1;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitPeers(PeerSegments[] peers, long group, PeerWatch watch, Deadline deadline) {
    for (int peer = 0; peer < peers.length; peer++) {
      if (peer != task) {
        awaitPeer(peer, peers[peer].board(), watch, deadline);
        long theirs = peers[peer].board().attachedGroup();
        if (theirs != group) {
          throw new CollectiveException(
              ErrorCode.STALE_GROUP,
              String.format(
                  "%s has joined group=%016x != %016x",
                  layout.table().describe(peer), theirs, group));
        }
      }
    }
  }

  private void awaitPeer(int peer, Board theirs, PeerWatch watch, Deadline deadline) {
    String who = layout.table().describe(peer);
    while (theirs.attachedGroup() == 0) {
      long nowNs = System.nanoTime();
      watch.look(nowNs);
      if (watch.latch().isTripped()) {
        throw watch.latch().cause();
      }
      if (theirs.isClosed() && theirs.attachedGroup() == 0) {
        throw new CollectiveException(ErrorCode.BOOTSTRAP_FAILED, who + " has closed its segment");
      }
      if (deadline.isExpired(nowNs)) {
        throw new CollectiveException(
            ErrorCode.TIMEOUT, who + " has not joined within " + deadline.budgetSeconds() + " s");
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new CollectiveException(ErrorCode.CANCELLED, "interrupted while waiting for " + who);
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  BoardLayout layout() {
    return layout;
  }

  int task() {
    return task;
  }

  SharedMemoryOptions options() {
    return options;
  }

  Board board() {
    return board;
  }

  OwnSegments segments() {
    return segments;
  }

  /** Gives the board up, or ends it when its transport closes; idempotent. Peers are told. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      board.close();
      segments.close();
      file.closeAndUnmap();
    }
  }
}
