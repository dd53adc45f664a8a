// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Copies that return when they are done, on a stream of their own; to and from the host through a
 * pinned buffer, which is made at the first copy and kept. One copy at a time.
 */
final class HostCopies {
  private static final long STAGING_BYTES = 8L << 20;

  /** For one piece of a copy, so generous. */
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  private final CudaDevice device;
  private CudaStream stream;
  private ByteBuffer staging;
  private long stagingAddress;

  HostCopies(CudaDevice device) {
    this.device = device;
  }

  synchronized void read(DeviceView from, View host) {
    open();
    long step = STAGING_BYTES / from.dtype().bytes();
    for (long done = 0; done < from.count(); done += step) {
      DeviceView piece = from.slice(done, Math.min(step, from.count() - done));
      move(piece.address(), stagingAddress, piece.byteCount());
      staged(piece).copyTo(host.slice(done, piece.count()));
    }
  }

  synchronized void write(View host, DeviceView to) {
    open();
    long step = STAGING_BYTES / to.dtype().bytes();
    for (long done = 0; done < to.count(); done += step) {
      DeviceView piece = to.slice(done, Math.min(step, to.count() - done));
      host.slice(done, piece.count()).copyTo(staged(piece));
      move(stagingAddress, piece.address(), piece.byteCount());
    }
  }

  synchronized void copy(DeviceView from, DeviceView to) {
    open();
    move(from.address(), to.address(), from.byteCount());
  }

  private View staged(DeviceView piece) {
    return View.of(staging.duplicate().limit((int) piece.byteCount()), piece.dtype());
  }

  private void move(long from, long to, long bytes) {
    if (bytes == 0) {
      return;
    }
    stream.copy(from, to, bytes);
    stream.drain(TIMEOUT_NS);
  }

  private void open() {
    if (staging != null) {
      return;
    }
    device.makeCurrent();
    stream = CudaStream.create(device);
    Pointer pinned = new Pointer();
    CudaCheck.driver(
        cudart.cuMemHostAlloc(pinned, STAGING_BYTES, cudart.CU_MEMHOSTALLOC_PORTABLE),
        "cuMemHostAlloc");
    stagingAddress = pinned.address();
    staging = pinned.capacity(STAGING_BYTES).asByteBuffer();
  }
}
