// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.fail;

import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.view.DeviceView;

/** The device of tests tagged gpu, and where on it their views lie. */
public final class Gpu {
  private static final int SLOT_ALIGNMENT_BYTES = 256;
  private static final int GUARD_BYTES = 64;

  private Gpu() {}

  /** The first device; without one the test ends as skipped, or failed where one is promised. */
  public static CudaDevice first() {
    CudaProbe probe = CudaProbe.process();
    if (!probe.isAvailable()) {
      if (Boolean.getBoolean("rankfold.gpu.required")) {
        fail("rankfold.gpu.required, but " + probe.reason());
      }
      System.out.println("SKIPPED: " + probe.reason());
      Assumptions.abort(probe.reason());
    }
    return CudaDevice.of(0);
  }

  /** How far from a multiple of 256 each view of a test starts. */
  public enum Placement {
    /** Not at all. */
    ALIGNED,
    /** All by three elements: vectors with a head and a tail. */
    SHIFTED,
    /** Each by some elements: no vectors. */
    SCATTERED,
    /** Each by some bytes: no elements. */
    ODD_BYTES;

    long offset(DType dtype, int index) {
      return switch (this) {
        case ALIGNED -> 0;
        case SHIFTED -> 3L * dtype.bytes();
        case SCATTERED -> (long) (index % 5) * dtype.bytes();
        case ODD_BYTES -> 1 + index % 7;
      };
    }
  }

  /** Room for some views of a type and count, and for where they are placed. */
  public static DeviceMemory room(CudaDevice device, DType dtype, long count, int views) {
    return DeviceMemory.allocate(device, slotBytes(dtype, count) * views);
  }

  /** The view of a place in such a room. */
  public static DeviceView view(
      DeviceMemory room, Placement placement, DType dtype, long count, int index) {
    long offset = placement.offset(dtype, index);
    return room.view(dtype, slotBytes(dtype, count) * index + offset, count);
  }

  private static long slotBytes(DType dtype, long count) {
    long bytes = count * dtype.bytes() + GUARD_BYTES;
    return (bytes + SLOT_ALIGNMENT_BYTES - 1) / SLOT_ALIGNMENT_BYTES * SLOT_ALIGNMENT_BYTES;
  }

  /** The test's seed: printed, and taken from the property {@code rankfold.seed}. */
  public static Random seeded() {
    long seed = Long.getLong("rankfold.seed", 20_261_201L);
    System.out.println("rankfold.seed=" + seed);
    return new Random(seed);
  }
}
