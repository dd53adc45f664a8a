// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * One IDX file of unsigned bytes, read whole: a big-endian magic word (0x0800 + dimensions), one
 * big-endian int for each dimension, then the bytes, the last dimension fastest. The first
 * dimension counts the items.
 *
 * <p>The header is not believed: memory grows with the bytes that arrive, and bytes too few or too
 * many are errors.
 */
final class IdxFile {
  private static final int UNSIGNED_BYTES = 0x0800;
  private static final long LARGEST_ITEM = 1L << 20;
  private static final int SMALL_LIST = 1 << 16;

  private final Path file;
  private final List<byte[]> items;

  private IdxFile(Path file, List<byte[]> items) {
    this.file = file;
    this.items = items;
  }

  /**
   * Reads a file; a name that ends in {@code .gz} is unpacked on the way.
   *
   * @param file the file
   * @param dimensions how many dimensions it must have
   * @return its content
   * @throws IOException if it cannot be read, naming the file and the values that do not fit
   */
  static IdxFile read(Path file, int dimensions) throws IOException {
    try (InputStream raw = Files.newInputStream(file);
        DataInputStream in = new DataInputStream(new BufferedInputStream(unpacked(file, raw)))) {
      return new IdxFile(file, items(file, dimensions, in));
    } catch (EOFException e) {
      throw e.getMessage() != null && e.getMessage().startsWith(file.toString())
          ? e
          : new IOException(file + ": ends inside its header or its gzip stream", e);
    } catch (ZipException e) {
      throw new IOException(file + ": not sound gzip: " + e.getMessage(), e);
    }
  }

  private static InputStream unpacked(Path file, InputStream raw) throws IOException {
    return file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw;
  }

  private static List<byte[]> items(Path file, int dimensions, DataInputStream in)
      throws IOException {
    int magic = in.readInt();
    if (magic != UNSIGNED_BYTES + dimensions) {
      throw new IOException(
          file
              + ": magic="
              + magic
              + " != "
              + (UNSIGNED_BYTES + dimensions)
              + " (unsigned bytes, dimensions="
              + dimensions
              + ")");
    }
    int[] sizes = new int[dimensions];
    for (int d = 0; d < dimensions; d++) {
      sizes[d] = in.readInt();
    }
    long itemBytes = 1;
    for (int d = 0; d < dimensions; d++) {
      if (sizes[d] < 0 || (d > 0 && sizes[d] == 0)) {
        throw new IOException(
            file + ": size=" + sizes[d] + " of dimension " + d + " in " + Arrays.toString(sizes));
      }
      itemBytes *= d == 0 ? 1 : sizes[d];
      if (itemBytes > LARGEST_ITEM) {
        throw new IOException(
            file
                + ": sizes="
                + Arrays.toString(sizes)
                + " make an item of more than "
                + LARGEST_ITEM
                + " bytes");
      }
    }
    List<byte[]> items = new ArrayList<>(Math.min(sizes[0], SMALL_LIST));
    for (int i = 0; i < sizes[0]; i++) {
      byte[] item = in.readNBytes((int) itemBytes);
      if (item.length != itemBytes) {
        throw new EOFException(
            file
                + ": bytes="
                + (i * itemBytes + item.length)
                + " < "
                + sizes[0] * itemBytes
                + " that sizes="
                + Arrays.toString(sizes)
                + " say");
      }
      items.add(item);
    }
    if (in.read() >= 0) {
      throw new IOException(
          file
              + ": has more than the bytes="
              + sizes[0] * itemBytes
              + " that sizes="
              + Arrays.toString(sizes)
              + " say");
    }
    return items;
  }

  /** The file it came from. */
  Path file() {
    return file;
  }

  /** The first dimension. */
  int items() {
    return items.size();
  }

  /** One item's bytes, borrowed. */
  byte[] item(int index) {
    return items.get(index);
  }
}
