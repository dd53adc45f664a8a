// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A file without a name, mapped, that peers open as this process's descriptor. It is written full
 * of zeros before it is mapped: touching a page for which the file system has no room would kill
 * the process. It loses its name before its first byte, so a killed process leaves nothing.
 */
final class SegmentFile {
  private static final int WRITE_BYTES = 1 << 20;
  private static final int GC_ROUNDS = 10;
  private static final long GC_ROUND_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final FileChannel channel;
  private final MappedByteBuffer bytes;
  private final int fileNumber;

  private SegmentFile(FileChannel channel, MappedByteBuffer bytes, int fileNumber) {
    this.channel = channel;
    this.bytes = bytes;
    this.fileNumber = fileNumber;
  }

  /** A zeroed segment; TOO_LITTLE_MEMORY with what is needed and what is there. */
  static SegmentFile create(Path folder, int byteCount) {
    requireSpace(folder, byteCount);
    try {
      return Uninterrupted.run(() -> open(folder, byteCount));
    } catch (IOException e) {
      if (availableBytes(folder) < byteCount) {
        throw tooLittle(folder, byteCount, e);
      }
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED,
          "no segment of " + byteCount + " bytes in " + folder + ": " + e,
          e);
    }
  }

  private static SegmentFile open(Path folder, int byteCount) throws IOException {
    Path file = folder.resolve("rankfold-" + UUID.randomUUID());
    FileChannel channel =
        FileChannel.open(
            file,
            EnumSet.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      int fileNumber = fileNumber(file);
      Files.delete(file);
      writeZeros(channel, byteCount);
      return new SegmentFile(
          channel, channel.map(FileChannel.MapMode.READ_WRITE, 0, byteCount), fileNumber);
    } catch (IOException | RuntimeException | Error e) {
      Files.deleteIfExists(file);
      channel.close();
      throw e;
    }
  }

  /**
   * Arenas that users have dropped hold their space until the collector sees it: it is asked to.
   */
  private static void requireSpace(Path folder, int byteCount) {
    for (int round = 0; availableBytes(folder) < byteCount; round++) {
      if (round == GC_ROUNDS) {
        throw tooLittle(folder, byteCount, null);
      }
      if (round == 0) {
        System.gc();
      }
      LockSupport.parkNanos(GC_ROUND_NS);
    }
  }

  /** What the folder's file system has room for. */
  static long availableBytes(Path folder) {
    try {
      return Files.getFileStore(folder).getUsableSpace();
    } catch (IOException e) {
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED, "spark.rankfold.sharedmemory.dir=" + folder + ": " + e, e);
    }
  }

  private static CollectiveException tooLittle(Path folder, int byteCount, Exception cause) {
    return new CollectiveException(
        ErrorCode.TOO_LITTLE_MEMORY,
        "a shared segment needs "
            + byteCount
            + " bytes in "
            + folder
            + ", where "
            + availableBytes(folder)
            + " are available; enlarge it or set spark.rankfold.sharedmemory.dir",
        cause);
  }

  private static void writeZeros(FileChannel channel, int byteCount) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(byteCount, WRITE_BYTES));
    long written = 0;
    while (written < byteCount) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), byteCount - written));
      while (zeros.hasRemaining()) {
        written += channel.write(zeros, written);
      }
    }
  }

  private static int fileNumber(Path file) throws IOException {
    Path real = file.toRealPath();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        if (isLinkTo(descriptor, real)) {
          return Integer.parseInt(descriptor.getFileName().toString());
        }
      }
    }
    throw new IOException("/proc/self/fd shows no open file " + real);
  }

  private static boolean isLinkTo(Path descriptor, Path file) {
    try {
      return Files.readSymbolicLink(descriptor).equals(file);
    } catch (IOException e) {
      // Closed in the meantime, as the stream's own descriptor will be.
      return false;
    }
  }

  MappedByteBuffer bytes() {
    return bytes;
  }

  int fileNumber() {
    return fileNumber;
  }

  /** Closes the file; the mapping stays until the collector finds nobody that refers to it. */
  void closeFile() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException("cannot close a segment's file", e);
    }
  }

  /** Closes the file and unmaps; nobody may touch the bytes again. */
  void closeAndUnmap() {
    closeFile();
    Mappings.unmap(bytes);
  }
}
