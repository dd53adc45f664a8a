// SPDX-License-Identifier: Apache-2.0
package org.rankfold.digest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.rankfold.view.DeviceView;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * SHA-256 of the raw little-endian bits of elements, wherever they lie: equal digests, equal bits.
 * For one thread at a time.
 */
public final class BitDigest {
  private static final int CHUNK_BYTES = 16 * 1024;
  private static final int DEVICE_CHUNK_BYTES = 4 << 20;

  private final MessageDigest sha = sha256();
  private final ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  /** A digest of nothing yet. */
  public BitDigest() {}

  /**
   * The digest of one view.
   *
   * @param view the elements, borrowed until return
   * @return 64 lower-case hexadecimal digits
   */
  public static String of(View view) {
    return new BitDigest().update(view).hex();
  }

  /**
   * Appends all elements of a view.
   *
   * @param view the elements, borrowed until return
   * @return this
   */
  public BitDigest update(View view) {
    if (view instanceof DirectView direct) {
      sha.update(direct.window());
      return this;
    }
    if (view instanceof DeviceView device) {
      return updateThroughHost(device);
    }
    HeapView heap = (HeapView) view;
    int bytes = heap.dtype().bytes();
    int chunkElements = CHUNK_BYTES / bytes;
    for (int done = 0; done < heap.length(); done += chunkElements) {
      int n = Math.min(chunkElements, heap.length() - done);
      int at = heap.offset() + done;
      switch (heap.dtype()) {
        case F32 -> chunk.asFloatBuffer().put((float[]) heap.array(), at, n);
        case F64 -> chunk.asDoubleBuffer().put((double[]) heap.array(), at, n);
        case F16, BF16 -> chunk.asShortBuffer().put((short[]) heap.array(), at, n);
        case I32 -> chunk.asIntBuffer().put((int[]) heap.array(), at, n);
        case I64 -> chunk.asLongBuffer().put((long[]) heap.array(), at, n);
      }
      sha.update(chunk.array(), 0, n * bytes);
    }
    return this;
  }

  private BitDigest updateThroughHost(DeviceView device) {
    long bytes = Math.min(device.byteCount(), DEVICE_CHUNK_BYTES);
    View host = View.of(ByteBuffer.allocateDirect((int) bytes), device.dtype());
    for (long done = 0; done < device.count(); done += host.count()) {
      long n = Math.min(host.count(), device.count() - done);
      View chunk = host.slice(0, n);
      device.slice(done, n).copyTo(chunk);
      update(chunk);
    }
    return this;
  }

  /**
   * Ends the digest; afterwards it is one of nothing again.
   *
   * @return 64 lower-case hexadecimal digits
   */
  public String hex() {
    return HexFormat.of().formatHex(sha.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
