// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.cuda.PinnedMemory;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

/**
 * One rank's own part of what a group shares: barrier words, two staging sets, and the pinned
 * memory where a kernel says why it refused. Words and staging are whole allocations, so that other
 * processes can map them. Closed only after every peer has unmapped it and none of its launches is
 * in flight; a group that failed is given up as a whole, since words never go back.
 */
public final class PeerMemory implements AutoCloseable {
  /** Words by parity and block: see peer.cu. */
  public static final int WORDS_BYTES = 1152 + 2 * PeerLauncher.PUSH_BLOCKS * 128;

  private static final long PAGE_BYTES = 2L << 20;

  static final int REPORT_BYTES = 64;

  /** Behind the report, in pinned memory: what is copied over the word of refusal. */
  private static final int REFUSAL_AT = REPORT_BYTES;

  private static final int PINNED_BYTES = REFUSAL_AT + Long.BYTES;
  private static final long REFUSED_WORD = 256;

  /** No call has that number: the rank's refusal came from its host. */
  private static final long BY_HOST = -1L;

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  private final CudaDevice device;
  private final long setBytes;
  private final DeviceMemory words;
  private final DeviceMemory staging;
  private final PinnedMemory report;
  private final CudaStream aside;

  private PeerMemory(
      CudaDevice device,
      long setBytes,
      DeviceMemory words,
      DeviceMemory staging,
      PinnedMemory report,
      CudaStream aside) {
    this.device = device;
    this.setBytes = setBytes;
    this.words = words;
    this.staging = staging;
    this.report = report;
    this.aside = aside;
  }

  /**
   * Allocates, with words that no call has used.
   *
   * @param device the rank's
   * @param setBytes room for the operands of all logical ranks in a one-shot call: their number
   *     times the operand, rounded up to 256 bytes
   * @return the memory, to be closed
   * @throws CollectiveException TOO_LITTLE_MEMORY; INVALID_ARGUMENT for a negative size
   */
  public static PeerMemory allocate(CudaDevice device, long setBytes) {
    if (setBytes < 0 || setBytes > 1L << 40) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "setBytes=%d", setBytes);
    }
    long rounded = (setBytes + 255) / 256 * 256;
    DeviceMemory words = DeviceMemory.allocate(device, pages(WORDS_BYTES));
    DeviceMemory staging = null;
    try (CudaStream stream = CudaStream.create(device)) {
      words.fill((byte) 0, stream);
      stream.await(Deadline.after(System.nanoTime(), TIMEOUT_NS), null);
      staging = DeviceMemory.allocate(device, pages(2 * rounded));
      PinnedMemory report = PinnedMemory.allocate(device, PINNED_BYTES);
      report.bytes().putLong(REFUSAL_AT, BY_HOST);
      return new PeerMemory(device, rounded, words, staging, report, CudaStream.create(device));
    } catch (RuntimeException e) {
      words.close();
      if (staging != null) {
        staging.close();
      }
      throw e;
    }
  }

  /** Another process maps pages of 2 MiB: nothing else of this process is to lie in them. */
  private static long pages(long bytes) {
    return Math.max(1, (bytes + PAGE_BYTES - 1) / PAGE_BYTES) * PAGE_BYTES;
  }

  /**
   * Where it lies, for launches of this process.
   *
   * @return the seat; another process's has the addresses it mapped words and staging to
   */
  public PeerSeat seat() {
    return new PeerSeat(device.info().uuid(), words().address(), staging().address(), setBytes);
  }

  /**
   * The words.
   *
   * @return all of the allocation
   */
  public DeviceView words() {
    return words.view(DType.I32);
  }

  /**
   * Both staging sets.
   *
   * @return all of the allocation
   */
  public DeviceView staging() {
    return staging.view(DType.I32);
  }

  CudaDevice device() {
    return device;
  }

  long reportAddress() {
    return report.address();
  }

  ByteBuffer report() {
    return report.bytes();
  }

  /** Writes the word that the rank's kernels look for, beside whatever its stream is doing. */
  void refuse() {
    aside.write(report.address() + REFUSAL_AT, words().address() + REFUSED_WORD, Long.BYTES);
  }

  /** Frees everything. Doing it again does nothing. */
  @Override
  public void close() {
    aside.close();
    report.close();
    staging.close();
    words.close();
  }
}
