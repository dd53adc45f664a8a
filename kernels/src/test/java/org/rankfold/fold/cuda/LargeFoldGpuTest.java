// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Folds;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/** Lengths past what 32-bit counts of bytes and of elements hold. */
@Tag("gpu")
class LargeFoldGpuTest {
  /** Elements that repeat through a large input; odd, so that no power of two divides it. */
  private static final int PERIOD = (1 << 20) + 7;

  private static CudaDevice device;
  private static CudaFold fold;

  @BeforeAll
  static void open() {
    device = Gpu.first();
    fold = CudaFold.on(device);
  }

  @AfterAll
  static void close() {
    if (fold != null) {
      fold.close();
    }
  }

  @Test
  void shouldFoldEveryElementWhenThereAreMoreThanTwoToThe28() {
    checkPeriodic(DType.F32, (1L << 28) + 3, 3);
  }

  @Test
  void shouldFoldEveryElementWhenThereAreMoreThanTwoToThe32() {
    checkPeriodic(DType.BF16, (1L << 32) + 5, 2);
  }

  /** Addends repeat with the period, so the result does, and every period of it is looked at. */
  private static void checkPeriodic(DType dtype, long count, int world) {
    ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, world);
    View[] hosts = new View[world];
    View expected = DeviceGolden.host(dtype, PERIOD);
    DeviceView[] addends = new DeviceView[world];
    try (DeviceMemory room = Gpu.room(device, dtype, count, world + 1);
        CudaStream stream = CudaStream.create(device)) {
      for (int r = 0; r < world; r++) {
        hosts[r] = DeviceGolden.host(dtype, PERIOD);
        OracleInputs.fill(hosts[r], InputKind.SPREAD, 99, r, 0);
        addends[r] = Gpu.view(room, Gpu.Placement.SHIFTED, dtype, count, r);
        repeat(hosts[r], addends[r], stream);
      }
      DeviceView out = Gpu.view(room, Gpu.Placement.SHIFTED, dtype, count, world);
      fold.fold(contract, addends, new View[] {out});
      Folds.fastest().fold(contract, hosts, new View[] {expected});
      View got = DeviceGolden.host(dtype, PERIOD);
      String digest = BitDigest.of(expected);
      // The first period, some others and the rest against the host's; all against one another.
      for (long from : new long[] {0, count / PERIOD / 2 * PERIOD, (count / PERIOD - 1) * PERIOD}) {
        out.slice(from, PERIOD).copyTo(got);
        assertThat(BitDigest.of(got)).as("%s from=%d", dtype, from).isEqualTo(digest);
      }
      long rest = count % PERIOD;
      out.slice(count - rest, rest).copyTo(got.slice(0, rest));
      assertThat(BitDigest.of(got.slice(0, rest))).isEqualTo(BitDigest.of(expected.slice(0, rest)));
      assertEveryPeriodEqual(out, dtype, count);
    }
  }

  /** As integers, minimum and maximum over the periods are equal only where all periods are. */
  private static void assertEveryPeriodEqual(DeviceView out, DType dtype, long count) {
    int periods = (int) (count / PERIOD);
    DType integers = DType.I32;
    long words = (long) PERIOD * dtype.bytes() / integers.bytes();
    for (int from = 0; from < periods; from += FoldVariant.MAX_WORLD) {
      int n = Math.min(FoldVariant.MAX_WORLD, periods - from);
      View[] parts = new View[n];
      for (int p = 0; p < n; p++) {
        long address = out.address() + (long) (from + p) * PERIOD * dtype.bytes();
        parts[p] = DeviceView.of(device, address, integers, words);
      }
      try (DeviceMemory both = DeviceMemory.allocate(device, 2 * words * integers.bytes())) {
        DeviceView least = both.view(integers, 0, words);
        DeviceView greatest = both.view(integers, words * integers.bytes(), words);
        extreme(ReduceOp.MIN, parts, least);
        extreme(ReduceOp.MAX, parts, greatest);
        assertThat(BitDigest.of(least)).isEqualTo(BitDigest.of(greatest));
      }
    }
  }

  private static void extreme(ReduceOp op, View[] parts, View out) {
    fold.fold(
        new ReduceContract(DType.I32, op, FoldOrder.RANK_LEFT, parts.length),
        parts,
        new View[] {out});
  }

  /** Fills a device view with copies of a host view, doubling what is there. */
  private static void repeat(View host, DeviceView to, CudaStream stream) {
    host.copyTo(to.slice(0, PERIOD));
    for (long have = PERIOD; have < to.count(); have *= 2) {
      long n = Math.min(have, to.count() - have);
      stream.copy(to.slice(0, n), to.slice(have, n));
    }
    stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(60)), null);
  }
}
