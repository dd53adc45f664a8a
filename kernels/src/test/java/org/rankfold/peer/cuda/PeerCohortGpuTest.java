// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
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
import org.rankfold.cuda.CudaGraph;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Folds;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.fold.cuda.DeviceGolden;
import org.rankfold.fold.cuda.Gpu;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/** Every rank of a group in one launch, on one device: bits, whatever the path. */
@Tag("gpu")
class PeerCohortGpuTest {
  private static final List<Gpu.Placement> PLACEMENTS = List.of(Gpu.Placement.values());
  private static final List<Way> WAYS = List.of(Way.values());

  private static CudaDevice device;
  private static PeerKernels kernels;
  private static CudaFold fold;

  @BeforeAll
  static void open() {
    device = Gpu.first();
    kernels = PeerKernels.on(device);
    fold = CudaFold.on(device);
    for (int world = 2; world <= 9; world++) {
      kernels.prepareMovement(world);
    }
  }

  @AfterAll
  static void close() {
    if (fold != null) {
      fold.close();
    }
    if (kernels != null) {
      kernels.close();
    }
  }

  /** The ways an all-reduce of all ranks goes on one device. */
  private enum Way {
    ONE_SHOT,
    MAPPED,
    EVENTS;

    void run(Ranks ranks, PeerCall call, DeviceView[] addends, DeviceView[] outs) {
      switch (this) {
        case ONE_SHOT -> ranks.run(call, PeerPath.ONE_SHOT, addends, outs);
        case MAPPED -> ranks.run(call, PeerPath.MAPPED, addends, outs);
        case EVENTS -> ranks.runByEvents(fold, call, addends, outs);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void shouldReachEveryGoldenRow(Way way) {
    assertThat(wrongRows(GoldenTable.builtIn(), way)).isEmpty();
  }

  /** Few and short enough for a sanitizer, under which kernels are a hundred times slower. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void shouldReachSomeGoldenRows(Way way) {
    List<GoldenRow> some = new ArrayList<>();
    for (GoldenRow row : GoldenTable.builtIn()) {
      if (row.contract().dtype() != DType.F64 && row.contract().world() == 7 && row.n() < 2000) {
        some.add(row);
      }
    }
    assertThat(some).hasSizeGreaterThan(20);
    assertThat(wrongRows(some.subList(0, 20), way)).isEmpty();
  }

  private static List<String> wrongRows(List<GoldenRow> rows, Way way) {
    long startNs = System.nanoTime();
    rows.stream().map(GoldenRow::contract).distinct().parallel().forEach(kernels::prepare);
    double prepareSeconds = (System.nanoTime() - startNs) / 1e9;
    List<String> wrong = new ArrayList<>();
    Map<Integer, Ranks> groups = new HashMap<>();
    Map<Integer, Integer> runs = new HashMap<>();
    int index = 0;
    for (GoldenRow row : rows) {
      // 2 to 8 ranks by turns, fewer where there are fewer logical ranks.
      int ranks = Math.min(row.contract().world(), 2 + index % 7);
      runs.merge(ranks, 1, Integer::sum);
      Gpu.Placement placement = PLACEMENTS.get(index / 7 % 4);
      Ranks group = groups.computeIfAbsent(ranks, w -> new Ranks(kernels, w, 64L << 20));
      if (!reaches(row, way, group, placement)) {
        wrong.add(ranks + " ranks, " + row.describe());
      }
      index++;
    }
    groups.values().forEach(Ranks::close);
    System.out.printf(
        "golden rows, %s, ranks=rows %s: %d ok, %d wrong (%.1f s, of which kernels %.1f s)%n",
        way,
        runs,
        index - wrong.size(),
        wrong.size(),
        (System.nanoTime() - startNs) / 1e9,
        prepareSeconds);
    return wrong;
  }

  private static boolean reaches(GoldenRow row, Way way, Ranks group, Gpu.Placement placement) {
    PeerCall call = PeerCall.allReduce(row.contract(), row.n());
    try (Case memory = new Case(row.contract(), row.n(), group.count(), placement)) {
      memory.fill(row.kind(), row.seed());
      way.run(group, call, memory.addends, memory.outs);
      return Arrays.stream(memory.outs).allMatch(out -> BitDigest.of(out).equals(row.sha256()));
    }
  }

  @Test
  void shouldGiveTheHostsBitsAtEverySizeTypeOperationAndOrder() {
    long[] sizes = {1, 4, 1024, 4096, 16_384, 65_536, (1 << 20) + 3};
    List<ReduceContract> contracts = new ArrayList<>();
    for (DType dtype : DType.values()) {
      for (ReduceOp op : ReduceOp.values()) {
        for (FoldOrder order : FoldOrder.values()) {
          if (op != ReduceOp.MEAN || dtype.isFloating()) {
            contracts.add(new ReduceContract(dtype, op, order, 2 + contracts.size() % 7));
          }
        }
      }
    }
    contracts.parallelStream().forEach(kernels::prepare);
    int index = 0;
    for (ReduceContract contract : contracts) {
      int ranks = contract.world();
      long setBytes = Ranks.setBytes(contract.dtype(), sizes[sizes.length - 1], ranks);
      try (Ranks group = new Ranks(kernels, ranks, setBytes)) {
        for (long count : sizes) {
          Gpu.Placement placement = PLACEMENTS.get(index++ % 4);
          try (Case one = new Case(contract, count, ranks, placement)) {
            one.fill(kindOf(contract.dtype(), index), 7);
            checkEveryWay(group, one, PeerCall.allReduce(contract, count), WAYS.get(index % 3));
          }
        }
      }
    }
    System.out.printf("sizes, types, operations, orders: %d cases by 3 ways ok%n", index);
  }

  private static void checkEveryWay(Ranks group, Case one, PeerCall call, Way inPlace) {
    String expected = one.expected();
    for (Way way : Way.values()) {
      for (DeviceView out : one.outs) {
        group.stream.copy(one.addends[1], out);
      }
      group.await();
      way.run(group, call, one.addends, one.outs);
      for (DeviceView out : one.outs) {
        assertThat(BitDigest.of(out)).as("%s %s", way, call.id()).isEqualTo(expected);
      }
    }
    inPlace.run(group, call, one.addends, one.addends);
    for (DeviceView out : one.addends) {
      assertThat(BitDigest.of(out)).as("%s %s in place", inPlace, call.id()).isEqualTo(expected);
    }
  }

  @Test
  void shouldGiveTheSameBitsOnBothSidesOfEachCutOver() {
    ReduceContract contract = contract(DType.F32, 3);
    kernels.prepare(contract);
    PathTable table =
        PathTable.of(
            List.of(
                new PathTable.Row(16_384, PeerPath.ONE_SHOT),
                new PathTable.Row(Long.MAX_VALUE, PeerPath.MAPPED)));
    try (Ranks group = new Ranks(kernels, 3, 1 << 20)) {
      for (long count : new long[] {4095, 4096, 4097}) {
        try (Case one = new Case(contract, count, 3, Gpu.Placement.ALIGNED)) {
          one.fill(InputKind.SPREAD, 3);
          PeerPath path = table.path(count * 4);
          assertThat(path).isEqualTo(count <= 4096 ? PeerPath.ONE_SHOT : PeerPath.MAPPED);
          group.run(PeerCall.allReduce(contract, count), path, one.addends, one.outs);
          assertThat(BitDigest.of(one.outs[2])).isEqualTo(one.expected());
        }
      }
    }
  }

  @Test
  void shouldScatterEveryRanksPartsOfTheResult() {
    int index = 0;
    for (int ranks = 2; ranks <= 8; ranks++) {
      // One logical rank more than ranks, so that one of them hosts two.
      ReduceContract contract =
          new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_TREE, ranks + 1);
      kernels.prepare(contract);
      try (Ranks group = new Ranks(kernels, ranks, 0)) {
        for (long part : new long[] {1, 5, 1024, 16_384}) {
          long count = part * contract.world();
          Gpu.Placement placement = PLACEMENTS.get(index++ % 4);
          try (Case one = new Case(contract, count, ranks, placement)) {
            one.fill(InputKind.SPREAD, part);
            View expected = one.expectedView();
            PeerCall call = PeerCall.reduceScatter(contract, count);
            group.run(call, PeerPath.MAPPED, one.addends, one.outs);
            for (int r = 0; r < ranks; r++) {
              long from = PeerArguments.bound(call, ranks, r);
              long n = PeerArguments.bound(call, ranks, r + 1) - from;
              assertThat(BitDigest.of(one.outs[r].slice(0, n)))
                  .as("ranks=%d rank=%d part=%d %s", ranks, r, part, placement)
                  .isEqualTo(BitDigest.of(expected.slice(from, n)));
            }
            scatterByEvents(group, one, call, part);
            for (int r = 0; r < ranks; r++) {
              long from = PeerArguments.bound(call, ranks, r);
              long n = PeerArguments.bound(call, ranks, r + 1) - from;
              assertThat(BitDigest.of(one.outs[r].slice(0, n)))
                  .as("events, ranks=%d rank=%d part=%d %s", ranks, r, part, placement)
                  .isEqualTo(BitDigest.of(expected.slice(from, n)));
            }
          }
        }
      }
    }
  }

  @Test
  void shouldMoveEveryBitWhenGatheringAndBroadcasting() {
    int index = 0;
    for (int ranks = 2; ranks <= 8; ranks++) {
      int world = ranks + 1;
      try (Ranks group = new Ranks(kernels, ranks, 0)) {
        for (long count : new long[] {1, 1024, 16_384}) {
          for (DType dtype : DType.values()) {
            ReduceContract shape =
                new ReduceContract(dtype, ReduceOp.MAX, FoldOrder.RANK_LEFT, world);
            Gpu.Placement placement = PLACEMENTS.get(index++ % 4);
            try (Case one = new Case(shape, count * world, ranks, placement)) {
              one.fill(InputKind.BITS, index);
              BitDigest all = new BitDigest();
              DeviceView[] rows = new DeviceView[world];
              for (int l = 0; l < world; l++) {
                rows[l] = one.addends[l].slice(0, count);
                all.update(rows[l]);
              }
              String gathered = all.hex();
              group.run(PeerCall.allGather(dtype, world, count), PeerPath.MAPPED, rows, one.outs);
              assertDigests(one.outs, gathered);
              int root = index % world;
              PeerCall broadcast = PeerCall.broadcast(dtype, world, root, count * world);
              group.run(broadcast, PeerPath.MAPPED, one.addends, one.outs);
              assertDigests(one.outs, BitDigest.of(one.addends[root]));
              moveByEvents(group, one, rows, root);
              assertDigests(one.outs, gathered);
            }
          }
        }
      }
    }
  }

  private static void scatterByEvents(Ranks group, Case one, PeerCall call, long part) {
    for (DeviceView out : one.outs) {
      group.stream.copy(one.addends[0], out);
    }
    group.await();
    int ranks = group.count();
    group.runByEvents(
        fold,
        (rank, events) -> {
          int first = PeerArguments.firstLogical(call.contract().world(), ranks, rank);
          int parts = PeerArguments.firstLogical(call.contract().world(), ranks, rank + 1) - first;
          DeviceView[] outs = new DeviceView[parts];
          for (int p = 0; p < parts; p++) {
            outs[p] = one.outs[rank].slice(p * part, part);
          }
          events.foldParts(call.contract(), one.addends, first, outs);
        });
  }

  /** A broadcast, checked here, then a gathering. */
  private static void moveByEvents(Ranks group, Case one, DeviceView[] rows, int root) {
    int world = rows.length;
    int ranks = group.count();
    int other = (root + 1) % world;
    group.runByEvents(fold, (rank, events) -> events.pushShardOf(one.addends[other], one.outs));
    assertDigests(one.outs, BitDigest.of(one.addends[other]));
    group.runByEvents(
        fold,
        (rank, events) -> {
          int first = PeerArguments.firstLogical(world, ranks, rank);
          int end = PeerArguments.firstLogical(world, ranks, rank + 1);
          events.pushRows(Arrays.copyOfRange(rows, first, end), first, one.outs);
        });
  }

  @Test
  void shouldBroadcastAHundredMillionElements() {
    ReduceContract shape = contract(DType.F32, 2);
    long count = 100_000_000;
    int period = 1_000_000;
    try (Ranks group = new Ranks(kernels, 2, 0);
        Case one = new Case(shape, count, 2, Gpu.Placement.ALIGNED)) {
      View host = DeviceGolden.host(DType.F32, period);
      for (int p = 0; p < count / period; p++) {
        OracleInputs.fill(host, InputKind.BITS, p, 0, 0);
        host.copyTo(one.addends[1].slice((long) p * period, period));
      }
      group.run(PeerCall.broadcast(DType.F32, 2, 1, count), PeerPath.MAPPED, one.addends, one.outs);
      assertDigests(one.outs, BitDigest.of(one.addends[1]));
      // And gathered from halves that lie in the other order: the whole is another one.
      DeviceView[] halves = {
        one.addends[1].slice(count / 2, count / 2), one.addends[1].slice(0, count / 2)
      };
      BitDigest gathered = new BitDigest();
      for (DeviceView half : halves) {
        gathered.update(half);
      }
      PeerCall gather = PeerCall.allGather(DType.F32, 2, count / 2);
      group.run(gather, PeerPath.MAPPED, halves, one.outs);
      assertDigests(one.outs, gathered.hex());
    }
  }

  @Test
  void shouldReduceMoreThanTwoToThe28Elements() {
    ReduceContract contract = contract(DType.F32, 2);
    kernels.prepare(contract);
    long count = (1L << 28) + 3;
    int period = (1 << 20) + 7;
    try (Ranks group = new Ranks(kernels, 2, 0);
        Case one = new Case(contract, count, 2, Gpu.Placement.SHIFTED)) {
      View host = DeviceGolden.host(DType.F32, period);
      for (int l = 0; l < 2; l++) {
        OracleInputs.fill(host, InputKind.SPREAD, 3, l, 0);
        host.copyTo(one.addends[l].slice(0, period));
        for (long have = period; have < count; have *= 2) {
          long n = Math.min(have, count - have);
          group.stream.copy(one.addends[l].slice(0, n), one.addends[l].slice(have, n));
        }
      }
      group.await();
      group.run(PeerCall.allReduce(contract, count), PeerPath.MAPPED, one.addends, one.outs);
      // What the fold, proven by itself, makes of the same addends, in place.
      fold.fold(contract, one.addends, new View[] {one.addends[0]});
      assertDigests(one.outs, BitDigest.of(one.addends[0]));
    }
  }

  @Test
  void shouldStayRightOverAThousandCallsOfRandomSizes() {
    Random random = Gpu.seeded();
    int most = 40_000;
    for (int ranks : new int[] {3, 5, 8}) {
      ReduceContract contract = contract(DType.F32, ranks);
      kernels.prepare(contract);
      try (Ranks group = new Ranks(kernels, ranks, Ranks.setBytes(DType.F32, most, ranks));
          Case one = new Case(contract, most, ranks, Gpu.Placement.SHIFTED)) {
        one.fill(InputKind.CANCEL, ranks);
        View whole = one.expectedView();
        int calls = ranks == 3 ? 1000 : 200;
        for (int i = 0; i < calls; i++) {
          int count = random.nextInt(4) == 0 ? random.nextInt(most) : random.nextInt(600);
          int from = random.nextInt(most - count);
          PeerPath path = random.nextBoolean() ? PeerPath.ONE_SHOT : PeerPath.MAPPED;
          DeviceView[] addends = slices(one.addends, from, count);
          DeviceView[] outs = slices(one.outs, from, count);
          group.run(PeerCall.allReduce(contract, count), path, addends, outs);
          String expected = BitDigest.of(whole.slice(from, count));
          assertThat(BitDigest.of(outs[i % ranks]))
              .as("call %d of %d ranks", i, ranks)
              .isEqualTo(expected);
        }
        System.out.printf("%d calls of random sizes, %d ranks: ok%n", calls, ranks);
      }
    }
  }

  /** A hundred calls enqueued at once, in place: each starts as soon as the device lets it. */
  @ParameterizedTest
  @EnumSource(
      value = Way.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldStayRightWhenCallsFollowOneAnotherAtOnce(Way way) {
    int ranks = 7;
    ReduceContract contract =
        new ReduceContract(DType.I64, ReduceOp.SUM, FoldOrder.RANK_LEFT, ranks);
    kernels.prepare(contract);
    try (Ranks group = new Ranks(kernels, ranks, 1 << 20);
        Case one = new Case(contract, 10_007, ranks, Gpu.Placement.ALIGNED)) {
      one.fill(InputKind.BITS, 5);
      View host = DeviceGolden.host(DType.I64, 10_007);
      View[] mirror = one.hosts();
      for (int i = 0; i < 100; i++) {
        // The path changes with the calls, and so do the number of blocks and the staging set.
        PeerPath path = i % 5 == 4 ? PeerPath.MAPPED : PeerPath.valueOf(way.name());
        int count = i % 2 == 0 ? 10_007 : 900;
        group.cohort.enqueue(
            PeerCall.allReduce(contract, count),
            path,
            Ranks.operands(slices(one.addends, 0, count), slices(one.addends, 0, count)));
        View[] part = new View[ranks];
        for (int r = 0; r < ranks; r++) {
          part[r] = mirror[r].slice(0, count);
        }
        Folds.fastest().fold(contract, part, new View[] {host.slice(0, count)});
        for (View view : part) {
          host.slice(0, count).copyTo(view);
        }
      }
      group.await();
      group.cohort.check();
      for (int r = 0; r < ranks; r++) {
        assertThat(BitDigest.of(one.addends[r])).isEqualTo(BitDigest.of(mirror[r]));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Way.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldCountEveryReplayOfAGraph(Way way) {
    int ranks = 3;
    ReduceContract contract =
        new ReduceContract(DType.I32, ReduceOp.SUM, FoldOrder.RANK_LEFT, ranks);
    kernels.prepare(contract);
    try (Ranks group = new Ranks(kernels, ranks, 1 << 20);
        Case one = new Case(contract, 5003, ranks, Gpu.Placement.ALIGNED)) {
      one.fill(InputKind.BITS, 1);
      PeerCall call = PeerCall.allReduce(contract, 5003);
      // All ranks alike after the first call; every call after it triples.
      group.run(call, PeerPath.MAPPED, one.addends, one.addends);
      View host = DeviceGolden.host(DType.I32, 5003);
      one.addends[0].copyTo(host);
      PeerOperands inPlace = Ranks.operands(one.addends, one.addends);
      try (CudaGraph graph =
          CudaGraph.record(
              group.stream,
              () -> group.cohort.enqueue(call, PeerPath.valueOf(way.name()), inPlace))) {
        for (int i = 0; i < 1000; i++) {
          graph.launch(group.stream);
          if (i % 100 == 50) {
            group.cohort.enqueue(
                call, i % 200 == 50 ? PeerPath.MAPPED : PeerPath.ONE_SHOT, inPlace);
          }
        }
        group.await();
        group.cohort.check();
      }
      int power = 1;
      for (int i = 0; i < 1010; i++) {
        power *= 3;
      }
      int[] expected = new int[5003];
      View mirror = View.of(expected);
      host.copyTo(mirror);
      for (int i = 0; i < expected.length; i++) {
        expected[i] *= power;
      }
      assertDigests(one.addends, BitDigest.of(mirror));
      System.out.printf("1000 replays and 10 calls between, %s: ok%n", way);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Way.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldFoldWhatIsThereWhenAGraphIsReplayed(Way way) {
    int ranks = 4;
    ReduceContract contract = contract(DType.BF16, ranks);
    kernels.prepare(contract);
    try (Ranks group = new Ranks(kernels, ranks, 1 << 20);
        Case one = new Case(contract, 3001, ranks, Gpu.Placement.SCATTERED)) {
      PeerCall call = PeerCall.allReduce(contract, 3001);
      PeerOperands operands = Ranks.operands(one.addends, one.outs);
      try (CudaGraph graph =
          CudaGraph.record(
              group.stream,
              () -> group.cohort.enqueue(call, PeerPath.valueOf(way.name()), operands))) {
        for (int i = 0; i < 20; i++) {
          one.fill(InputKind.CANCEL, i);
          graph.launch(group.stream);
          group.await();
          group.cohort.check();
          assertDigests(one.outs, one.expected());
        }
      }
    }
  }

  @Test
  void shouldKeepTwoGroupsOfOneDeviceApart() {
    ReduceContract contract = contract(DType.F64, 3);
    kernels.prepare(contract);
    try (Ranks first = new Ranks(kernels, 3, 1 << 20);
        Ranks second = new Ranks(kernels, 3, 1 << 20);
        Case one = new Case(contract, 2003, 3, Gpu.Placement.ALIGNED);
        Case two = new Case(contract, 2003, 3, Gpu.Placement.SHIFTED)) {
      one.fill(InputKind.SPREAD, 1);
      two.fill(InputKind.SPREAD, 2);
      PeerCall call = PeerCall.allReduce(contract, 2003);
      for (int i = 0; i < 50; i++) {
        PeerPath path = i % 2 == 0 ? PeerPath.ONE_SHOT : PeerPath.MAPPED;
        first.cohort.enqueue(call, path, Ranks.operands(one.addends, one.outs));
        second.cohort.enqueue(call, path, Ranks.operands(two.addends, two.outs));
      }
      first.await();
      second.await();
      first.cohort.check();
      second.cohort.check();
      assertDigests(one.outs, one.expected());
      assertDigests(two.outs, two.expected());
    }
  }

  private static void assertDigests(DeviceView[] views, String expected) {
    for (int i = 0; i < views.length; i++) {
      assertThat(BitDigest.of(views[i])).as("view %d", i).isEqualTo(expected);
    }
  }

  private static DeviceView[] slices(DeviceView[] views, long from, long count) {
    return Arrays.stream(views).map(v -> v.slice(from, count)).toArray(DeviceView[]::new);
  }

  private static InputKind kindOf(DType dtype, int index) {
    InputKind[] kinds = InputKind.values();
    return dtype.isFloating() ? kinds[index % kinds.length] : InputKind.BITS;
  }

  private static ReduceContract contract(DType dtype, int world) {
    return new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, world);
  }

  /** Addends of all logical ranks and an output of every rank, with what a host makes of them. */
  static final class Case implements AutoCloseable {
    final DeviceView[] addends;
    final DeviceView[] outs;
    private final ReduceContract contract;
    private final long count;
    private final DeviceMemory room;

    Case(ReduceContract contract, long count, int ranks, Gpu.Placement placement) {
      this.contract = contract;
      this.count = count;
      int world = contract.world();
      DType dtype = contract.dtype();
      this.room = Gpu.room(device(), dtype, count, world + ranks);
      this.addends = new DeviceView[world];
      this.outs = new DeviceView[ranks];
      for (int l = 0; l < world; l++) {
        addends[l] = Gpu.view(room, placement, dtype, count, l);
      }
      for (int r = 0; r < ranks; r++) {
        outs[r] = Gpu.view(room, placement, dtype, count, world + r);
      }
    }

    private static CudaDevice device() {
      return Gpu.first();
    }

    void fill(InputKind kind, long seed) {
      InputKind fitting = contract.dtype().isFloating() ? kind : InputKind.BITS;
      View host = DeviceGolden.host(contract.dtype(), count);
      for (int l = 0; l < addends.length; l++) {
        OracleInputs.fill(host, fitting, seed, l, 0);
        host.copyTo(addends[l]);
      }
    }

    View[] hosts() {
      View[] hosts = new View[addends.length];
      for (int l = 0; l < hosts.length; l++) {
        hosts[l] = DeviceGolden.host(contract.dtype(), count);
        addends[l].copyTo(hosts[l]);
      }
      return hosts;
    }

    View expectedView() {
      View result = DeviceGolden.host(contract.dtype(), count);
      Folds.fastest().fold(contract, hosts(), new View[] {result});
      return result;
    }

    String expected() {
      return BitDigest.of(expectedView());
    }

    @Override
    public void close() {
      room.close();
    }
  }
}
