// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.memory.Arena;
import org.rankfold.view.View;

/** What kind of memory a task brings. */
enum Memory {
  ARENA,
  HEAP,
  DIRECT;

  /** Ends the arenas made in it. */
  static final class Scope implements AutoCloseable {
    private final List<Arena> arenas = new ArrayList<>();

    @Override
    public void close() {
      arenas.forEach(Arena::close);
    }
  }

  static Memory of(String name, int task) {
    return switch (name) {
      case "arena" -> ARENA;
      case "heap" -> HEAP;
      case "direct" -> DIRECT;
      case "mixed" -> List.of(ARENA, HEAP, DIRECT).get(task % 3);
      case "oneheap" -> task == 1 ? HEAP : ARENA;
      default -> throw new IllegalArgumentException(name);
    };
  }

  View make(Communicator communicator, DType dtype, long count, Scope scope) {
    int n = Math.toIntExact(count);
    if (this == ARENA) {
      Arena arena = communicator.allocate(dtype, count);
      scope.arenas.add(arena);
      return arena.view();
    }
    if (this == DIRECT) {
      return View.of(ByteBuffer.allocateDirect(n * dtype.bytes()), dtype);
    }
    return switch (dtype) {
      case F32 -> View.of(new float[n]);
      case F64 -> View.of(new double[n]);
      case F16, BF16 -> View.of(new short[n], dtype);
      case I32 -> View.of(new int[n]);
      case I64 -> View.of(new long[n]);
    };
  }
}
