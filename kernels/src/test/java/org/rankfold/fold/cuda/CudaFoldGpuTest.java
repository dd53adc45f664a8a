// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Fold;
import org.rankfold.fold.ScalarFold;
import org.rankfold.view.DeviceView;
import org.rankfold.view.DirectView;
import org.rankfold.view.View;

@Tag("gpu")
class CudaFoldGpuTest {
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

  @ParameterizedTest
  @EnumSource(Gpu.Placement.class)
  void shouldReachEveryGoldenRow(Gpu.Placement placement) {
    List<String> wrong = DeviceGolden.wrongRows(device, fold, placement);
    System.out.printf(
        "golden rows, %s: %d ok, %d wrong%n",
        placement, GoldenTable.builtIn().size() - wrong.size(), wrong.size());
    assertThat(wrong).isEmpty();
  }

  @Test
  void shouldReachEveryGoldenRowWhenViewsLieOnTheHost() {
    List<String> wrong = new ArrayList<>();
    for (GoldenRow row : GoldenTable.builtIn()) {
      View[] addends = new View[row.contract().world()];
      for (int r = 0; r < addends.length; r++) {
        addends[r] = DeviceGolden.host(row.contract().dtype(), row.n());
        OracleInputs.fill(addends[r], row.kind(), row.seed(), r, 0);
      }
      fold.fold(row.contract(), addends, new View[] {addends[0]});
      if (!BitDigest.of(addends[0]).equals(row.sha256())) {
        wrong.add(row.describe());
      }
    }
    System.out.printf(
        "golden rows, host views in place: %d ok, %d wrong%n",
        GoldenTable.builtIn().size() - wrong.size(), wrong.size());
    assertThat(wrong).isEmpty();
  }

  /** Every mutation is one that a fold could plausibly have; the table must notice each. */
  @ParameterizedTest
  @EnumSource(Mutation.class)
  void shouldMissGoldenRowsWhenTheKernelIs(Mutation mutation) {
    try (CudaFold mutated =
        CudaFold.of(device, mutation.of(FoldSource.text()), FoldShape.DEFAULT)) {
      List<String> wrong =
          DeviceGolden.wrongRows(device, mutated, Gpu.Placement.ALIGNED, Mutation::shows);
      System.out.printf("golden rows, %s: %d wrong%n", mutation, wrong.size());
      assertThat(wrong).isNotEmpty();
    }
  }

  @Test
  void shouldGiveTheHostsBitsWhenCasesAreRandom() {
    Random random = Gpu.seeded();
    Fold scalar = new ScalarFold();
    int[] worlds = {1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 17, 100, 128};
    for (int i = 0; i < 700; i++) {
      DType dtype = pick(random, DType.values());
      ReduceOp op = pick(random, ReduceOp.values());
      int world = worlds[random.nextInt(worlds.length)];
      long count = i % 3 == 0 ? random.nextInt(40) : random.nextInt(4098);
      Gpu.Placement placement = pick(random, Gpu.Placement.values());
      FoldOrder order = pick(random, FoldOrder.values());
      if (op == ReduceOp.MEAN && !dtype.isFloating()) {
        continue;
      }
      ReduceContract contract = new ReduceContract(dtype, op, order, world);
      InputKind[] kinds =
          dtype.isFloating() ? InputKind.values() : new InputKind[] {InputKind.BITS};
      InputKind kind = pick(random, kinds);
      int outs = random.nextInt(4) == 0 ? 20 : 1 + random.nextInt(2);
      Case one = new Case(contract, kind, random.nextLong(), count, placement, outs);
      assertThat(one.run(device, fold)).as(one.toString()).isEqualTo(one.run(null, scalar));
    }
  }

  @Test
  void shouldTouchNothingBesideTheOutputWhenUnaligned() {
    ReduceContract contract = contract(DType.F16, 3);
    try (DeviceMemory memory = DeviceMemory.allocate(device, 4096);
        CudaStream stream = CudaStream.create(device)) {
      memory.fill((byte) 0x3c, stream);
      stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(10)), null);
      for (int from = 0; from < 20; from++) {
        for (int count = 0; count < 40; count++) {
          DeviceView addend = memory.view(DType.F16, 2048 + 2L * (from % 3), count);
          DeviceView out = memory.view(DType.F16, 256 + 2L * from, count);
          fold.fold(contract, new View[] {addend, addend, addend}, new View[] {out});
          View host = DeviceGolden.host(DType.I32, 256);
          memory.view(DType.I32, 0, 256).copyTo(host);
          ByteBuffer bytes = ((DirectView) host).window();
          for (int at = 0; at < 1024; at += 2) {
            boolean isInside = at >= 256 + 2 * from && at < 256 + 2 * from + 2 * count;
            assertThat(bytes.getShort(at) == 0x3c3c)
                .as("from=%d count=%d at=%d", from, count, at)
                .isEqualTo(!isInside);
          }
          memory.fill((byte) 0x3c, stream);
          stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(10)), null);
        }
      }
    }
  }

  @Test
  void shouldFoldEverythingInPiecesWhenRanksTakeOneShardEach() {
    long deadlineNs = TimeUnit.SECONDS.toNanos(10);
    for (Gpu.Placement placement : Gpu.Placement.values()) {
      for (int ranks : new int[] {1, 2, 3, 7, 16}) {
        ReduceContract contract =
            new ReduceContract(DType.BF16, ReduceOp.MEAN, FoldOrder.RANK_TREE, 7);
        long count = 1009;
        try (DeviceMemory room = Gpu.room(device, DType.BF16, count, 9);
            CudaStream stream = CudaStream.create(device)) {
          DeviceView[] views = fill(room, placement, contract, count, 9);
          DeviceView[] addends = Arrays.copyOf(views, 7);
          String expected =
              new Case(contract, InputKind.SPREAD, 7, count, placement, 1).run(device, fold);
          // Rank after rank, in place on two of the arenas and beside them.
          DeviceView[] outs = {views[0], views[5], views[8]};
          for (int rank = ranks - 1; rank > 0; rank--) {
            fold.enqueueShards(contract, addends, outs, ranks, rank, 1, stream);
          }
          fold.enqueueShards(contract, addends, outs, ranks, 0, 1, stream);
          stream.await(Deadline.after(System.nanoTime(), deadlineNs), null);
          for (DeviceView out : outs) {
            assertThat(BitDigest.of(out)).isEqualTo(expected);
          }
          // All ranks in one launch.
          fill(room, placement, contract, count, 9);
          fold.enqueueShards(contract, addends, outs, ranks, 0, ranks, stream);
          stream.await(Deadline.after(System.nanoTime(), deadlineNs), null);
          for (DeviceView out : outs) {
            assertThat(BitDigest.of(out)).isEqualTo(expected);
          }
        }
      }
    }
  }

  @Test
  void shouldKeepMemoryFlatAndBitsEqualWhenManyThreadsFoldManyTimes() throws Exception {
    ReduceContract contract = contract(DType.F32, 4);
    Case one = new Case(contract, InputKind.CANCEL, 11, 2003, Gpu.Placement.SHIFTED, 1);
    String expected = one.run(device, fold);
    long before = device.freeBytes();
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Future<String>> results = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        results.add(threads.submit(() -> folded(contract, 1250)));
      }
      for (Future<String> result : results) {
        assertThat(result.get(2, TimeUnit.MINUTES)).isEqualTo(expected);
      }
    } finally {
      threads.shutdownNow();
    }
    // The driver takes memory in steps of 2 MiB; 10,000 leaks of the least allocation are 5 MB.
    assertThat(before - device.freeBytes()).isLessThanOrEqualTo(2L << 20);
  }

  @Test
  void shouldFailTypedAndStayUsableWhenTheDeviceRefuses() {
    ReduceContract contract = contract(DType.F32, 2);
    Case one = new Case(contract, InputKind.UNIFORM, 1, 100, Gpu.Placement.ALIGNED, 1);
    String expected = one.run(device, fold);
    try (DeviceMemory room = Gpu.room(device, DType.F32, 100, 3);
        CudaStream stream = CudaStream.create(device)) {
      DeviceView[] views = fill(room, Gpu.Placement.ALIGNED, contract, 100, 3);
      DeviceView[] addends = Arrays.copyOf(views, 2);
      DeviceView[] outs = {views[2]};
      // More blocks in y than any device has.
      assertCode(
          () -> fold.enqueueShards(contract, addends, outs, 70_000, 0, 70_000, stream),
          ErrorCode.DEVICE_CALL_FAILED);
      assertCode(
          () -> fold.enqueueShards(contract, addends, outs, 4, 3, 2, stream),
          ErrorCode.INVALID_ARGUMENT);
    }
    assertCode(() -> DeviceMemory.allocate(device, 1L << 50), ErrorCode.TOO_LITTLE_MEMORY);
    assertCode(() -> CudaDevice.of(99), ErrorCode.INVALID_ARGUMENT);
    CudaFold closed = CudaFold.on(device);
    closed.close();
    closed.close();
    assertCode(() -> one.run(device, closed), ErrorCode.CLOSED);
    assertThat(one.run(device, fold)).isEqualTo(expected);
  }

  private static String folded(ReduceContract contract, int times) {
    try (DeviceMemory room = Gpu.room(device, DType.F32, 2003, 5)) {
      DeviceView[] views = new DeviceView[5];
      View host = DeviceGolden.host(DType.F32, 2003);
      for (int r = 0; r < 5; r++) {
        views[r] = Gpu.view(room, Gpu.Placement.SHIFTED, DType.F32, 2003, r);
        OracleInputs.fill(host, InputKind.CANCEL, 11, r, 0);
        host.copyTo(views[r]);
      }
      for (int i = 0; i < times; i++) {
        fold.fold(contract, Arrays.copyOf(views, 4), new View[] {views[4]});
      }
      return BitDigest.of(views[4]);
    }
  }

  private static DeviceView[] fill(
      DeviceMemory room, Gpu.Placement placement, ReduceContract contract, long count, int views) {
    DeviceView[] all = new DeviceView[views];
    View host = DeviceGolden.host(contract.dtype(), count);
    for (int r = 0; r < views; r++) {
      all[r] = Gpu.view(room, placement, contract.dtype(), count, r);
      OracleInputs.fill(host, InputKind.SPREAD, 7, r, 0);
      host.copyTo(all[r]);
    }
    return all;
  }

  private static <E> E pick(Random random, E[] values) {
    return values[random.nextInt(values.length)];
  }

  private static ReduceContract contract(DType dtype, int world) {
    return new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, world);
  }

  private static void assertCode(Runnable use, ErrorCode code) {
    assertThatThrownBy(use::run)
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> {
              System.out.println("typed: " + e.code() + " " + e.getMessage());
              assertThat(e.code()).isEqualTo(code);
            });
  }

  /** Wrong kernels: what is replaced in the source, by what. */
  private enum Mutation {
    FROM_ZERO("P acc = Access::widen(x[LO]);", "P acc = zero(Access::widen(x[LO]));"),
    REVERSED("args.addend[r] + offset", "args.addend[args.world - 1 - r] + offset"),
    FLUSHING("__fadd_rn(a, b)", "flushed(a, b)"),
    PAYLOAD_KEPT("a != a ? 0x7fc00000u : __float_as_uint(a)", "__float_as_uint(a)"),
    DIVIDING("__fmul_rn(a, (float)scale)", "__fdiv_rn(a, __fdiv_rn(1.0f, (float)scale))");

    private static final String MORE =
        """
        __device__ __forceinline__ float flushed(float a, float b) {
          float c;
          asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
          return c;
        }
        template <typename P> __device__ __forceinline__ P zero(P p) {
          P z = {};
          return join(z, p);
        }
        """;

    private final String original;
    private final String wrong;

    Mutation(String original, String wrong) {
      this.original = original;
      this.wrong = wrong;
    }

    /** Rows few enough to compile for: f32 in worlds of 4 and 5, all operations and orders. */
    static boolean shows(GoldenRow row) {
      int world = row.contract().world();
      return row.contract().dtype() == DType.F32 && (world == 4 || world == 5);
    }

    String of(String source) {
      assertThat(source).contains(original);
      String seam = "// ---- Orders.";
      assertThat(source).contains(seam);
      String mutated = source.replace(original, wrong);
      // What sums use must stand before the sums; what starts a fold, after them.
      String before = MORE.substring(0, MORE.indexOf("template"));
      String after = MORE.substring(MORE.indexOf("template"));
      return mutated
          .replace("// ---- Operations on two accumulators.", before)
          .replace(seam, after + "\n//");
    }
  }

  /** One reduction of generated inputs; its outputs' digests. */
  private record Case(
      ReduceContract contract,
      InputKind kind,
      long seed,
      long count,
      Gpu.Placement placement,
      int outs) {
    /** On the device, or where that is null on the host. */
    String run(CudaDevice on, Fold by) {
      int world = contract.world();
      View[] addends = new View[world];
      View[] results = new View[outs];
      if (on == null) {
        for (int r = 0; r < world; r++) {
          addends[r] = DeviceGolden.host(contract.dtype(), count);
          OracleInputs.fill(addends[r], kind, seed, r, 0);
        }
        Arrays.setAll(results, o -> DeviceGolden.host(contract.dtype(), count));
        by.fold(contract, addends, results);
        return BitDigest.of(results[0]);
      }
      try (DeviceMemory room = Gpu.room(on, contract.dtype(), count, world + outs)) {
        View host = DeviceGolden.host(contract.dtype(), count);
        for (int r = 0; r < world; r++) {
          addends[r] = Gpu.view(room, placement, contract.dtype(), count, r);
          OracleInputs.fill(host, kind, seed, r, 0);
          host.copyTo(addends[r]);
        }
        Arrays.setAll(results, o -> Gpu.view(room, placement, contract.dtype(), count, world + o));
        by.fold(contract, addends, results);
        String digest = BitDigest.of(results[0]);
        for (View result : results) {
          assertThat(BitDigest.of(result)).isEqualTo(digest);
        }
        return digest;
      }
    }
  }
}
