// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaGraph;
import org.rankfold.cuda.CudaStream;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.fold.cuda.FoldCode;
import org.rankfold.fold.cuda.Gpu;
import org.rankfold.peer.cuda.PeerCohortGpuTest.Case;
import org.rankfold.view.DeviceView;

/** What goes wrong on the device: words left out, ranks late, pushes dropped, barriers skipped. */
@Tag("gpu")
class PeerFaultGpuTest {
  private static final int COUNT = 20_011;
  private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(60);
  private static final PeerTimeouts SHORT = PeerTimeouts.of(SHORT_NS);

  /** Whoever has entered outlasts a peer that gives up. */
  private static final PeerTimeouts PATIENT_INSIDE = new PeerTimeouts(SHORT_NS, 3 * SHORT_NS);

  private static final ReduceContract SUM =
      new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 3);
  private static final PeerCall CALL = PeerCall.allReduce(SUM, COUNT);

  private static CudaDevice device;
  private static PeerKernels kernels;

  @BeforeAll
  static void open() {
    device = Gpu.first();
    kernels = PeerKernels.of(device, PeerSource.text(), List.of("-DRF_FAULTS"));
    kernels.prepare(SUM);
  }

  @AfterAll
  static void close() {
    if (kernels != null) {
      kernels.close();
    }
  }

  /** One group with a fault at its third call, after two that were right. */
  private static final class Scene implements AutoCloseable {
    final Ranks ranks = new Ranks(kernels, 3, Ranks.setBytes(DType.F32, COUNT, 3), PATIENT_INSIDE);
    final Case memory = new Case(SUM, COUNT, 3, Gpu.Placement.ALIGNED);
    final String expected;
    final String untouched;
    final long tookNs;

    Scene(PeerPath path, PeerFault fault) {
      memory.fill(InputKind.CANCEL, 4);
      expected = memory.expected();
      untouched = BitDigest.of(memory.addends[1]);
      ranks.run(CALL, path, memory.addends, memory.outs);
      ranks.run(CALL, PeerPath.ONE_SHOT, memory.addends, memory.outs);
      assertThat(BitDigest.of(memory.outs[0])).isEqualTo(expected);
      for (DeviceView out : memory.outs) {
        ranks.stream.copy(memory.addends[1], out);
      }
      ranks.cohort.withFault(fault);
      long startNs = System.nanoTime();
      ranks.cohort.enqueue(CALL, path, Ranks.operands(memory.addends, memory.outs));
      ranks.await();
      tookNs = System.nanoTime() - startNs;
      ranks.cohort.withFault(PeerFault.NONE);
    }

    CollectiveException refusal(int rank) {
      CollectiveException refusal = ranks.cohort.refusal(rank);
      assertThat(refusal).as("refusal of rank %d", rank).isNotNull();
      System.out.printf(
          "rank %d: %s %s: %s%n", rank, refusal.code(), refusal.outState(), refusal.getMessage());
      return refusal;
    }

    String out(int rank) {
      return BitDigest.of(memory.outs[rank]);
    }

    @Override
    public void close() {
      ranks.close();
      memory.close();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = PeerPath.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldExpireWithTheOutputUntouchedWhenAStartWordIsLeftOut(PeerPath path) {
    try (Scene scene = new Scene(path, PeerFault.of(PeerFault.Kind.NO_START_WORD, 2))) {
      for (int rank = 0; rank < 3; rank++) {
        CollectiveException refusal = scene.refusal(rank);
        assertThat(refusal.outState()).isEqualTo(OutState.UNTOUCHED);
        assertThat(refusal).hasMessageContaining("call #3 of rank " + rank);
        // Whoever gives up first keeps the others out: they say that, or who is missing.
        if (refusal.code() == ErrorCode.TIMEOUT) {
          assertThat(refusal).hasMessageContaining("rank=2 of 3 missing at the");
        } else {
          assertThat(refusal.code()).isEqualTo(ErrorCode.PEER_FAILED);
        }
        assertThat(scene.out(rank)).isEqualTo(scene.untouched);
      }
      assertThat(scene.refusal(0).code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(scene.tookNs).isBetween(SHORT_NS, 20 * SHORT_NS);
    }
  }

  @Test
  void shouldExpireAfterWritingWhenAnEndWordIsLeftOut() {
    try (Scene scene = new Scene(PeerPath.MAPPED, PeerFault.of(PeerFault.Kind.NO_END_WORD, 1))) {
      for (int rank = 0; rank < 3; rank++) {
        CollectiveException refusal = scene.refusal(rank);
        assertThat(refusal.code()).isEqualTo(ErrorCode.MEMORY_STILL_BORROWED);
        assertThat(refusal.outState()).isEqualTo(OutState.PARTLY_WRITTEN);
        assertThat(refusal)
            .hasMessageContaining("rank=1 of 3 missing at the end barrier")
            .hasMessageContaining("output written by this rank, peers unknown");
        assertThat(scene.out(rank)).isEqualTo(scene.expected);
      }
    }
  }

  /** Behind the start barrier; the rank folds nothing, stores nothing and says nothing more. */
  @Test
  void shouldSayWhoIsUnknownWhenARankDiesInItsKernel() {
    try (Scene scene = new Scene(PeerPath.MAPPED, PeerFault.of(PeerFault.Kind.DIES, 1))) {
      assertThat(scene.ranks.cohort.refusal(1)).isNull();
      for (int rank = 0; rank < 3; rank += 2) {
        CollectiveException refusal = scene.refusal(rank);
        assertThat(refusal.code()).isEqualTo(ErrorCode.MEMORY_STILL_BORROWED);
        assertThat(refusal.outState()).isEqualTo(OutState.PARTLY_WRITTEN);
        assertThat(refusal).hasMessageContaining("rank=1 of 3 missing at the end barrier");
        // The dead rank's shard is missing, the others are there.
        assertThat(scene.out(rank)).isNotIn(scene.expected, scene.untouched);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = PeerPath.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldRefuseAtOnceWhenAHashDiffers(PeerPath path) {
    try (Scene scene = new Scene(path, PeerFault.of(PeerFault.Kind.OTHER_HASH, 1))) {
      for (int rank = 0; rank < 3; rank++) {
        CollectiveException refusal = scene.refusal(rank);
        assertThat(refusal.code()).isIn(ErrorCode.PROTOCOL, ErrorCode.PEER_FAILED);
        assertThat(refusal.outState()).isEqualTo(OutState.UNTOUCHED);
        assertThat(scene.out(rank)).isEqualTo(scene.untouched);
      }
      assertThat(scene.refusal(1)).hasMessageContaining("their calls differ");
      assertThat(scene.tookNs).isLessThan(SHORT_NS);
    }
  }

  /** The late rank finds every word there, and may not enter: its peers have given it up. */
  @Test
  void shouldNotEnterWhenPeersGaveUpBefore() {
    PeerFault late = new PeerFault(PeerFault.Kind.LATE, 2, 0, 0, (int) (2 * SHORT_NS));
    try (Scene scene = new Scene(PeerPath.MAPPED, late)) {
      for (int rank = 0; rank < 3; rank++) {
        CollectiveException refusal = scene.refusal(rank);
        assertThat(refusal.code()).isEqualTo(rank == 2 ? ErrorCode.PEER_FAILED : ErrorCode.TIMEOUT);
        assertThat(refusal.outState()).isEqualTo(OutState.UNTOUCHED);
        assertThat(scene.out(rank)).isEqualTo(scene.untouched);
      }
    }
  }

  /**
   * The late entry, by design and not by luck: rank 2 has said that it is there, so its peers
   * enter; it never sees rank 0's word, gives up, and finds that they are inside its memory.
   */
  @Test
  void shouldWaitForPeersThatHaveEnteredWhenARankGivesUp() {
    PeerFault blind = new PeerFault(PeerFault.Kind.BLIND, 2, 0, 0, 0);
    try (Scene scene = new Scene(PeerPath.MAPPED, blind)) {
      CollectiveException gaveUp = scene.refusal(2);
      assertThat(gaveUp.code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(gaveUp.outState()).isEqualTo(OutState.PARTLY_WRITTEN);
      assertThat(gaveUp)
          .hasMessageContaining("rank=0 of 3 missing at the start barrier")
          .hasMessageContaining("output partly written: rank=0,1 had entered, and has left");
      // They have stored their shards to its output; its own is missing everywhere.
      assertThat(scene.out(2)).isNotIn(scene.expected, scene.untouched);
      for (int rank = 0; rank < 2; rank++) {
        CollectiveException told = scene.refusal(rank);
        assertThat(told.code()).isEqualTo(ErrorCode.PEER_FAILED);
        assertThat(told.outState()).isEqualTo(OutState.PARTLY_WRITTEN);
        assertThat(told)
            .hasMessageContaining("rank=2 refused before the end barrier")
            .hasMessageContaining("output written by this rank, not by all peers; all have left");
        assertThat(scene.out(rank)).isEqualTo(scene.out(2));
      }
    }
  }

  /** The same, but one that has entered dies: nobody may say that its memory is free. */
  @Test
  void shouldSayThatMemoryIsBorrowedWhenAPeerThatHasEnteredDies() {
    PeerFault blind = new PeerFault(PeerFault.Kind.BLIND_TO_DEAD, 2, 0, 0, 0);
    try (Scene scene = new Scene(PeerPath.MAPPED, blind)) {
      CollectiveException gaveUp = scene.refusal(2);
      assertThat(gaveUp.code()).isEqualTo(ErrorCode.MEMORY_STILL_BORROWED);
      assertThat(gaveUp)
          .hasMessageContaining("rank=0 had entered and may still use this rank's memory");
      assertThat(scene.refusal(1).code())
          .isIn(ErrorCode.MEMORY_STILL_BORROWED, ErrorCode.PEER_FAILED);
      assertThat(scene.tookNs).isBetween(2 * SHORT_NS, 20 * SHORT_NS);
    }
  }

  /** Ranks that arrive as their peers give up: whoever reports untouched output has untouched. */
  @Test
  void shouldTellTheTruthWhenARankIsLateByAboutTheTimeout() {
    Random random = Gpu.seeded();
    int went = 0;
    int refused = 0;
    for (int i = 0; i < 40; i++) {
      int delayNs = (int) SHORT_NS + random.nextInt(8_000) - 4_000;
      PeerFault late = new PeerFault(PeerFault.Kind.LATE, i % 3, 0, 0, delayNs);
      try (Scene scene = new Scene(PeerPath.MAPPED, late)) {
        int refusals = 0;
        for (int rank = 0; rank < 3; rank++) {
          CollectiveException refusal = scene.ranks.cohort.refusal(rank);
          refusals += refusal == null ? 0 : 1;
          if (refusal == null) {
            assertThat(scene.out(rank)).isEqualTo(scene.expected);
          } else if (refusal.outState() == OutState.UNTOUCHED) {
            assertThat(scene.out(rank)).isEqualTo(scene.untouched);
          } else {
            assertThat(refusal.code()).isNotEqualTo(ErrorCode.MEMORY_STILL_BORROWED);
          }
        }
        went += refusals == 0 ? 1 : 0;
        refused += refusals == 3 ? 1 : 0;
        // A rank is done only when all have written, so either all are or none is.
        assertThat(refusals).as("delayNs=%d", delayNs).isIn(0, 3);
      }
    }
    System.out.printf("late by about the timeout: %d went, %d refused%n", went, refused);
  }

  @ParameterizedTest
  @EnumSource(
      value = PeerPath.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldDivergeWhenOneDirectionIsDropped(PeerPath path) {
    PeerFault drop = new PeerFault(PeerFault.Kind.NO_PUSH, 0, 2, 0, 0);
    try (Scene scene = new Scene(path, drop)) {
      // A one-shot call still finds, in the slot, what the same rank pushed two calls before.
      if (path == PeerPath.ONE_SHOT) {
        scene.memory.fill(InputKind.CANCEL, 5);
        scene.ranks.cohort.withFault(drop);
        for (int i = 0; i < 2; i++) {
          scene.ranks.run(CALL, path, scene.memory.addends, scene.memory.outs);
        }
      }
      scene.ranks.cohort.check();
      String right = path == PeerPath.ONE_SHOT ? scene.memory.expected() : scene.expected;
      assertThat(scene.out(1)).isEqualTo(right);
      assertThat(scene.out(2)).isNotEqualTo(right);
    }
  }

  /** By events: rank 0 stores its shard beside rank 2's output. */
  @Test
  void shouldDivergeWhenOneDirectionOfTheEventArmIsDropped() {
    try (Ranks ranks = new Ranks(kernels, 3, 0);
        Case memory = new Case(SUM, COUNT, 3, Gpu.Placement.ALIGNED);
        Case beside = new Case(SUM, COUNT, 3, Gpu.Placement.ALIGNED);
        CudaFold fold = CudaFold.on(device)) {
      memory.fill(InputKind.CANCEL, 4);
      DeviceView[] dropped = memory.outs.clone();
      dropped[2] = beside.outs[2];
      ranks.runByEvents(
          fold,
          (rank, events) ->
              events.pushShard(SUM, memory.addends, rank == 0 ? dropped : memory.outs));
      String expected = memory.expected();
      assertThat(BitDigest.of(memory.outs[1])).isEqualTo(expected);
      assertThat(BitDigest.of(memory.outs[2])).isNotEqualTo(expected);
    }
  }

  @Test
  void shouldExpireWhenOneDirectionOfAWordIsDropped() {
    // Rank 1 leaves the words of both barriers out: nobody folds, nobody waits longer than bounded.
    for (PeerFault.Kind kind : List.of(PeerFault.Kind.NO_START_WORD, PeerFault.Kind.NO_END_WORD)) {
      try (Scene scene = new Scene(PeerPath.MAPPED, PeerFault.of(kind, 0))) {
        assertThat(scene.tookNs).isLessThan(TimeUnit.SECONDS.toNanos(2));
        assertThatThrownBy(scene.ranks.cohort::check).isInstanceOf(CollectiveException.class);
      }
    }
  }

  @Test
  void shouldRefuseEveryLaterCallAndServeANewGroup() {
    try (Scene scene = new Scene(PeerPath.MAPPED, PeerFault.of(PeerFault.Kind.NO_START_WORD, 0))) {
      assertThatThrownBy(
              () -> scene.ranks.run(CALL, PeerPath.MAPPED, scene.memory.addends, scene.memory.outs))
          .isInstanceOfSatisfying(
              CollectiveException.class,
              e -> assertThat(e.outState()).isEqualTo(OutState.UNTOUCHED))
          .hasMessageContaining("call #3");
      try (Ranks next = new Ranks(kernels, 3, 1 << 20)) {
        next.run(CALL, PeerPath.MAPPED, scene.memory.addends, scene.memory.outs);
        assertThat(scene.out(1)).isEqualTo(scene.expected);
      }
    }
  }

  @Test
  void shouldTouchNothingWhenAGraphIsReplayedAfterARefusal() {
    try (Ranks ranks = new Ranks(kernels, 3, 1 << 20, SHORT);
        Case memory = new Case(SUM, 5000, 3, Gpu.Placement.ALIGNED)) {
      memory.fill(InputKind.CANCEL, 4);
      PeerCall call = PeerCall.allReduce(SUM, 5000);
      PeerOperands operands = Ranks.operands(memory.addends, memory.outs);
      for (DeviceView out : memory.outs) {
        ranks.stream.copy(memory.addends[1], out);
      }
      ranks.await();
      try (CudaGraph graph =
          CudaGraph.record(
              ranks.stream, () -> ranks.cohort.enqueue(call, PeerPath.MAPPED, operands))) {
        ranks.cohort.withFault(PeerFault.of(PeerFault.Kind.NO_START_WORD, 1));
        ranks.cohort.enqueue(call, PeerPath.MAPPED, operands);
        long startNs = System.nanoTime();
        for (int i = 0; i < 100; i++) {
          graph.launch(ranks.stream);
        }
        ranks.await();
        // One expiry in all, not one a replay.
        assertThat(System.nanoTime() - startNs).isLessThan(20 * SHORT_NS);
      }
      assertThat(ranks.cohort.refusal(0)).hasMessageContaining("call #1");
      for (DeviceView out : memory.outs) {
        assertThat(BitDigest.of(out)).isEqualTo(BitDigest.of(memory.addends[1]));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void shouldStayRightWhenBlocksDawdleBetweenPhases(int seed) {
    assertThat(wrongOutputs(kernels, seed)).isZero();
  }

  /**
   * The delays are worth something: without the barriers the same calls go wrong. Only one-shot
   * calls can: all ranks are in one launch, whose ends order mapped calls even without barriers.
   */
  @Test
  void shouldGoWrongUnderTheSameDelaysWhenBarriersAreSkipped() {
    String original = "const int code = await(p, call, line + 8 * threadIdx.x, isPatient, &seen);";
    String source = PeerSource.text();
    assertThat(source).contains(original);
    String mutated = source.replace(original, "const int code = FINE; seen = 0;");
    try (PeerKernels without = PeerKernels.of(device, mutated, List.of("-DRF_FAULTS"))) {
      without.prepare(SUM);
      int wrong = wrongOutputs(without, 1);
      System.out.printf("outputs wrong without barriers: %d of 240%n", wrong);
      assertThat(wrong).isPositive();
    }
  }

  /** Calls that follow one another at once, each in place on the result of the one before. */
  private static int wrongOutputs(PeerKernels with, int seed) {
    int wrong = 0;
    PeerFault dawdling = new PeerFault(PeerFault.Kind.NONE, 0, 0, seed * 7919L, 150_000);
    for (PeerPath path : List.of(PeerPath.ONE_SHOT, PeerPath.MAPPED)) {
      try (Ranks ranks = new Ranks(with, 3, Ranks.setBytes(DType.F32, COUNT, 3));
          Case memory = new Case(SUM, COUNT, 3, Gpu.Placement.ALIGNED)) {
        ranks.cohort.withFault(dawdling);
        for (int i = 0; i < 40; i++) {
          memory.fill(InputKind.CANCEL, seed * 100L + i);
          String expected = memory.expected();
          ranks.run(CALL, path, memory.addends, memory.addends);
          for (int rank = 0; rank < 3; rank++) {
            wrong += BitDigest.of(memory.addends[rank]).equals(expected) ? 0 : 1;
          }
        }
      }
    }
    return wrong;
  }

  @Test
  void shouldRefuseSeparateLaunchesOfTwoRanksOnOneDevice() {
    try (PeerMemory first = PeerMemory.allocate(device, 1 << 16);
        PeerMemory second = PeerMemory.allocate(device, 1 << 16);
        CudaStream stream = CudaStream.create(device)) {
      List<PeerSeat> seats = List.of(first.seat(), second.seat());
      assertThatThrownBy(() -> PeerRank.of(kernels, stream, first, seats, 0, SHORT))
          .isInstanceOfSatisfying(
              CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
          .hasMessageContaining(device.info().uuid());
      // One rank alone is no pair, and meets itself.
      ReduceContract alone = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 3);
      PeerRank single = PeerRank.of(kernels, stream, first, List.of(first.seat()), 0, SHORT);
      try (Case memory = new Case(alone, 999, 1, Gpu.Placement.ALIGNED)) {
        memory.fill(InputKind.CANCEL, 1);
        PeerOperands operands = Ranks.operands(memory.addends, memory.outs);
        for (PeerPath path : List.of(PeerPath.MAPPED, PeerPath.ONE_SHOT)) {
          single.enqueue(PeerCall.allReduce(alone, 999), path, operands);
          Ranks.await(stream);
          single.check();
          assertThat(BitDigest.of(memory.outs[0])).isEqualTo(memory.expected());
        }
      }
    }
  }

  @Test
  void shouldRefuseWhatIsNotLoadedOrCannotBeResident() {
    ReduceContract other = new ReduceContract(DType.F64, ReduceOp.MIN, FoldOrder.RANK_TREE, 3);
    try (Ranks ranks = new Ranks(kernels, 3, 1 << 20);
        Case memory = new Case(other, 10, 3, Gpu.Placement.ALIGNED)) {
      PeerOperands operands = Ranks.operands(memory.addends, memory.outs);
      assertRefused(
          () -> ranks.cohort.enqueue(PeerCall.allReduce(other, 10), PeerPath.MAPPED, operands),
          "is not loaded on cuda:0");
      PeerCall sum = PeerCall.allReduce(SUM, 10);
      assertRefused(
          () -> ranks.cohort.enqueue(sum, PeerPath.STAGED, operands), "is not a kernel's");
      assertRefused(
          () -> ranks.cohort.withMostBlocks(0).enqueue(sum, PeerPath.MAPPED, operands),
          "ranks=3 in one launch > resident blocks=");
      // And the device itself, when it is asked for more than it holds at once.
      PeerKernels.Ready ready = kernels.of(sum);
      byte[] nothing = new byte[472 + 8 * FoldCode.of(SUM).capacity()];
      List<Integer> tooMany = new ArrayList<>(List.of(ready.residentBlocks() + 1));
      assertThatThrownBy(
              () -> ready.kernel().launchTogether(tooMany.get(0), 1, 512, nothing, ranks.stream))
          .isInstanceOfSatisfying(
              CollectiveException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.DEVICE_CALL_FAILED))
          .hasMessageContaining("COOPERATIVE_LAUNCH_TOO_LARGE");
    }
  }

  private static void assertRefused(Runnable use, String reason) {
    assertThatThrownBy(use::run)
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
        .hasMessageContaining(reason);
  }
}
