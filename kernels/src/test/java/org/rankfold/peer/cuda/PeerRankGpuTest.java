// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.fold.cuda.Gpu;
import org.rankfold.peer.cuda.PeerCohortGpuTest.Case;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * A launch a rank, as several devices have it, on one device and one rank after another: the words
 * of ranks that have not been launched yet are put there by the test. The seats claim devices that
 * are not there, or the launches would be refused.
 */
@Tag("gpu")
class PeerRankGpuTest {
  private static final int RANKS = 3;
  private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(60);
  private static final ReduceContract SUM =
      new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 5);

  private static CudaDevice device;
  private static PeerKernels kernels;

  private final List<PeerMemory> memory = new ArrayList<>();

  @BeforeAll
  static void open() {
    device = Gpu.first();
    kernels = PeerKernels.on(device);
    kernels.prepare(SUM);
  }

  @AfterAll
  static void close() {
    if (kernels != null) {
      kernels.close();
    }
  }

  @Test
  void shouldReduceWhenEveryRankHasALaunchOfItsOwn() {
    PeerCall call = PeerCall.allReduce(SUM, 12_345);
    try (CudaStream stream = CudaStream.create(device);
        Case one = new Case(SUM, 12_345, RANKS, Gpu.Placement.SHIFTED)) {
      List<PeerRank> ranks = ranks(stream, 0);
      PeerOperands operands = Ranks.operands(one.addends, one.outs);
      for (int number = 1; number <= 4; number++) {
        one.fill(InputKind.CANCEL, number);
        String expected = one.expected();
        for (int rank = 0; rank < RANKS; rank++) {
          for (int later = rank + 1; later < RANKS; later++) {
            putWord(rank, 640, number, later, call);
            putWord(rank, 896, number, later, call);
          }
          ranks.get(rank).enqueue(call, PeerPath.MAPPED, operands);
          Ranks.await(stream);
          ranks.get(rank).check();
        }
        for (DeviceView out : one.outs) {
          assertThat(BitDigest.of(out)).as("call %d", number).isEqualTo(expected);
        }
      }
    } finally {
      memory.forEach(PeerMemory::close);
    }
  }

  @Test
  void shouldNameTheRankThatNeverComes() {
    PeerCall call = PeerCall.allReduce(SUM, 100);
    try (CudaStream stream = CudaStream.create(device);
        Case one = new Case(SUM, 100, RANKS, Gpu.Placement.ALIGNED)) {
      List<PeerRank> ranks = ranks(stream, 1 << 16);
      one.fill(InputKind.CANCEL, 1);
      PeerOperands operands = Ranks.operands(one.addends, one.outs);
      putWord(0, 640, 1, 1, call);
      ranks.get(0).enqueue(call, PeerPath.MAPPED, operands);
      Ranks.await(stream);
      assertThatThrownBy(ranks.get(0)::check)
          .isInstanceOfSatisfying(
              CollectiveException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.TIMEOUT);
                assertThat(e.outState()).isEqualTo(OutState.UNTOUCHED);
              })
          .hasMessageContaining("rank=2 of 3 missing at the start barrier");
      // Rank 1 finds itself given up, although by now every word but rank 2's is there.
      putWord(1, 640, 1, 2, call);
      ranks.get(1).enqueue(call, PeerPath.MAPPED, operands);
      Ranks.await(stream);
      assertThatThrownBy(ranks.get(1)::check)
          .isInstanceOfSatisfying(
              CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PEER_FAILED))
          .hasMessageContaining("gave this call up");
      // And the one-shot path, with nobody there.
      ranks.get(2).enqueue(call, PeerPath.ONE_SHOT, operands);
      Ranks.await(stream);
      assertThatThrownBy(ranks.get(2)::check)
          .hasMessageContaining("rank=0,1 of 3 missing at the pushed barrier");
    } finally {
      memory.forEach(PeerMemory::close);
    }
  }

  /** The host knows that a peer is gone long before the kernel's own patience ends. */
  @ParameterizedTest
  @EnumSource(
      value = PeerPath.class,
      names = {"ONE_SHOT", "MAPPED"})
  void shouldLeaveTheKernelAtOnceWhenTheHostGivesUp(PeerPath path) {
    PeerCall call = PeerCall.allReduce(SUM, 100);
    PeerTimeouts patient =
        new PeerTimeouts(TimeUnit.SECONDS.toNanos(8), TimeUnit.MILLISECONDS.toNanos(60));
    try (CudaStream stream = CudaStream.create(device);
        Case one = new Case(SUM, 100, RANKS, Gpu.Placement.ALIGNED)) {
      List<PeerRank> ranks = ranks(stream, 1 << 16, patient);
      one.fill(InputKind.CANCEL, 1);
      String before = BitDigest.of(one.outs[0]);
      PeerOperands operands = Ranks.operands(one.addends, one.outs);
      ranks.get(0).enqueue(call, path, operands);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      assertThat(stream.isDone()).isFalse();
      long startNs = System.nanoTime();
      ranks.get(0).giveUp();
      Ranks.await(stream);
      System.out.printf(
          "%s: the kernel left %.3f ms after it was told%n",
          path, (System.nanoTime() - startNs) / 1e6);
      assertThat(System.nanoTime() - startNs).isLessThan(TimeUnit.SECONDS.toNanos(2));
      assertThat(BitDigest.of(one.outs[0])).isEqualTo(before);
      // And a peer that comes after all finds the call given up.
      if (path == PeerPath.MAPPED) {
        putWord(1, 640, 1, 2, call);
        ranks.get(1).enqueue(call, path, operands);
        Ranks.await(stream);
        assertThatThrownBy(ranks.get(1)::check).hasMessageContaining("gave this call up");
      }
    } finally {
      memory.forEach(PeerMemory::close);
    }
  }

  private List<PeerRank> ranks(CudaStream stream, long setBytes) {
    return ranks(stream, setBytes, PeerTimeouts.of(TIMEOUT_NS));
  }

  private List<PeerRank> ranks(CudaStream stream, long setBytes, PeerTimeouts timeouts) {
    List<PeerSeat> seats = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      memory.add(PeerMemory.allocate(device, setBytes));
      PeerSeat seat = memory.get(rank).seat();
      seats.add(
          new PeerSeat("GPU-" + rank, seat.wordsAddress(), seat.stagingAddress(), seat.setBytes()));
    }
    List<PeerRank> ranks = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      ranks.add(PeerRank.of(kernels, stream, memory.get(rank), seats, rank, timeouts));
    }
    return ranks;
  }

  /** What the kernel of a later rank will store. */
  private void putWord(int rank, int line, int number, int from, PeerCall call) {
    long hash = call.hash(RANKS, PeerPath.MAPPED, 0, 0) & 0xffffffffL;
    long at = memory.get(rank).words().address() + line + 128L * (number & 1) + 8L * from;
    View.of(new long[] {(long) number << 32 | hash})
        .copyTo(DeviceView.of(device, at, DType.I64, 1));
  }
}
