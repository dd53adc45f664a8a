// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.cuda.DeviceScratch;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

@Tag("gpu")
class DeviceScratchGpuTest {
  private static final long MIB = 1L << 20;

  private final CudaDevice device = Gpu.first();

  @Test
  void shouldHandABlockOnOnlyAfterItsWorkAndStayInsideTheLimit() {
    try (DeviceScratch scratch = new DeviceScratch(device, 4 * MIB);
        CudaStream stream = CudaStream.create(device)) {
      DeviceScratch.Block first = scratch.take(2 * MIB, soon(), null);
      long address = first.memory().view(DType.I64).address();
      first.giveBackBehind(stream);
      stream.await(soon(), null);
      DeviceScratch.Block again = scratch.take(2 * MIB - 5, soon(), null);
      assertThat(again.memory().view(DType.I64).address()).isEqualTo(address);
      DeviceScratch.Block second = scratch.take(2 * MIB, soon(), null);
      assertThat(scratch.heldBytes()).isEqualTo(4 * MIB);
      assertCode(() -> scratch.take(1, soon(), null), ErrorCode.TOO_LITTLE_MEMORY);
      // The idle block of another size makes room.
      second.giveBackBehind(stream);
      DeviceScratch.Block small = scratch.take(1, soon(), null);
      assertThat(scratch.heldBytes()).isEqualTo(3 * MIB);
      again.giveBackBehind(stream);
      small.giveBackBehind(stream);
    }
  }

  @Test
  void shouldEndAWaitTypedWhenTheDeviceIsBusy() {
    try (DeviceMemory from = DeviceMemory.allocate(device, 1L << 33);
        DeviceMemory to = DeviceMemory.allocate(device, 1L << 33);
        CudaStream stream = CudaStream.create(device)) {
      DeviceView source = from.view(DType.I64);
      from.fill((byte) 1, stream);
      // Some 100 ms of copies.
      for (int i = 0; i < 25; i++) {
        stream.copy(source, to.view(DType.I64));
      }
      assertThat(stream.isDone()).isFalse();
      assertCode(
          () -> stream.await(Deadline.after(System.nanoTime(), 1_000_000), null),
          ErrorCode.TIMEOUT);
      AbortLatch abort = new AbortLatch();
      abort.trip(new CollectiveException(ErrorCode.PEER_FAILED, "rank=3 left"));
      assertCode(() -> stream.await(soon(), abort), ErrorCode.PEER_FAILED);
      stream.await(soon(), null);
      assertThat(stream.isDone()).isTrue();
    }
  }

  private static Deadline soon() {
    return Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(20));
  }

  private static void assertCode(Runnable use, ErrorCode code) {
    assertThatThrownBy(use::run)
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
