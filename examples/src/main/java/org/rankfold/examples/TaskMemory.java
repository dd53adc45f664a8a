// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.memory.Arena;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.view.View;

/** The memory of one task of a job, all in one place; freed together. For one thread. */
final class TaskMemory implements AutoCloseable {
  private final Communicator communicator;
  private final MemoryKind kind;
  private final List<Runnable> owned = new ArrayList<>();

  TaskMemory(Communicator communicator, MemoryKind kind) {
    this.communicator = communicator;
    this.kind = kind;
  }

  /** A new stretch, its contents not defined. */
  View view(DType dtype, long count) {
    return switch (kind) {
      case HEAP -> heap(dtype, Math.toIntExact(count));
      case DIRECT ->
          View.of(ByteBuffer.allocateDirect(Math.toIntExact(count * dtype.bytes())), dtype);
      case ARENA -> {
        Arena arena = communicator.allocate(dtype, count);
        owned.add(arena::close);
        yield arena.view();
      }
      case DEVICE -> {
        DeviceBuffer buffer = communicator.allocateOnDevice(dtype, count);
        owned.add(buffer::close);
        yield buffer.view();
      }
    };
  }

  /** A new array, whatever the kind. */
  static View heap(DType dtype, int count) {
    return switch (dtype) {
      case F32 -> View.of(new float[count]);
      case F64 -> View.of(new double[count]);
      case F16, BF16 -> View.of(new short[count], dtype);
      case I32 -> View.of(new int[count]);
      case I64 -> View.of(new long[count]);
    };
  }

  @Override
  public void close() {
    owned.forEach(Runnable::run);
    owned.clear();
  }
}
