// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;

/** What a launch is given and what a refusal says; needs no device. */
class PeerLaunchTest {
  private static final PeerTimeouts BOUND = PeerTimeouts.of(1_000_000);

  @Test
  void shouldLayOutTheStructAsTheSourceDeclaresIt() {
    PeerCall call = PeerCall.allReduce(contract(ReduceOp.MEAN, 5), 100);
    int hash = call.hash(3, PeerPath.ONE_SHOT, 2, 64);
    ByteBuffer args = arguments(call, new PeerArguments.Split(PeerPath.ONE_SHOT, 2, 64, hash), 3);
    assertThat(args.capacity()).isEqualTo(472 + 8 * 16);
    assertThat(args.getLong(0)).isEqualTo(77);
    assertThat(args.getLong(8)).isEqualTo(100);
    assertThat(args.getDouble(16)).isEqualTo(1.0f / 5);
    assertThat(args.getLong(24)).isEqualTo(9);
    assertThat(args.getLong(32)).isEqualTo(64);
    assertThat(args.getLong(40)).isEqualTo(1024);
    assertThat(args.getLong(48)).isEqualTo(6000);
    assertThat(args.getInt(56)).isEqualTo(hash);
    assertThat(args.getInt(60)).isEqualTo(3);
    assertThat(args.getInt(64)).isEqualTo(1);
    assertThat(args.getInt(68)).isEqualTo(5);
    assertThat(args.getInt(72)).isEqualTo(2);
    assertThat(args.getInt(76)).isZero();
    assertThat(args.getInt(84)).isEqualTo(4);
    assertThat(args.getInt(88)).isEqualTo(5);
    assertThat(args.getInt(92)).isEqualTo(2);
    assertThat(args.getInt(96)).isEqualTo(1);
    assertThat(args.getInt(100)).isEqualTo(11);
    assertThat(args.getLong(104 + 8 * 2)).isEqualTo(72);
    assertThat(args.getLong(104 + 8 * 3)).isEqualTo(100);
    assertThat(args.getInt(176 + 4)).isEqualTo(2);
    assertThat(args.getInt(176 + 4 * 3)).isEqualTo(5);
    assertThat(args.getInt(212)).isEqualTo(5);
    assertThat(args.getLong(216 + 8)).isEqualTo(0x1001);
    assertThat(args.getLong(280 + 8)).isEqualTo(0x2001);
    assertThat(args.getLong(344 + 8)).isEqualTo(0x3001);
    assertThat(args.getLong(408 + 8)).isEqualTo(0x4010);
    assertThat(args.getLong(472 + 8 * 4)).isEqualTo(0x5040);
  }

  @Test
  void shouldHashWhateverMustBeAlike() {
    PeerCall call = PeerCall.allReduce(contract(ReduceOp.SUM, 3), 100);
    int hash = call.hash(3, PeerPath.MAPPED, 4, 0);
    assertThat(call.hash(3, PeerPath.MAPPED, 9, 0)).as("blocks of a mapped call").isEqualTo(hash);
    List<Integer> others =
        List.of(
            call.hash(2, PeerPath.MAPPED, 4, 0),
            call.hash(3, PeerPath.ONE_SHOT, 4, 0),
            PeerCall.allReduce(contract(ReduceOp.SUM, 3), 101).hash(3, PeerPath.MAPPED, 4, 0),
            PeerCall.allReduce(contract(ReduceOp.MAX, 3), 100).hash(3, PeerPath.MAPPED, 4, 0),
            PeerCall.reduceScatter(contract(ReduceOp.SUM, 3), 99).hash(3, PeerPath.MAPPED, 4, 0),
            PeerCall.broadcast(DType.F32, 3, 0, 100).hash(3, PeerPath.MAPPED, 4, 0),
            PeerCall.broadcast(DType.F32, 3, 1, 100).hash(3, PeerPath.MAPPED, 4, 0));
    assertThat(others).doesNotContain(hash).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @CsvSource({"8, 3, '0,3,6,8'", "3, 3, '0,1,2,3'", "1000, 7, '0,143,286,429,572,715,858,1000'"})
  void shouldHostLogicalRanksInBlocksLargerOnesFirst(int world, int ranks, String firsts) {
    List<String> got = new ArrayList<>();
    for (int r = 0; r <= ranks; r++) {
      got.add(Integer.toString(PeerArguments.firstLogical(world, ranks, r)));
    }
    assertThat(String.join(",", got)).isEqualTo(firsts);
  }

  @Test
  void shouldRefuseRanksInSeparateLaunchesWhenTheyShareADevice() {
    List<PeerSeat> seats = seats(3);
    seats.set(2, new PeerSeat("GPU-0", 1, 2, 6000));
    assertThatThrownBy(() -> PeerLauncher.ofRank(null, null, seats, null, 0, BOUND))
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
        .hasMessageContaining("rank=2 device=GPU-0 == rank=0 device");
  }

  @Test
  void shouldRefuseImpossibleSeats() {
    assertThatThrownBy(() -> PeerLauncher.ofRank(null, null, seats(9), null, 0, BOUND))
        .hasMessageContaining("ranks=9 is not inside 1 to 8");
    assertThatThrownBy(() -> PeerLauncher.ofRank(null, null, seats(3), null, 3, BOUND))
        .hasMessageContaining("rank=3 of ranks=3");
    assertThatThrownBy(() -> new PeerTimeouts(0, 1_000_000)).hasMessageContaining("startNs=0");
    assertThatThrownBy(() -> new PeerTimeouts(1, 999_999)).hasMessageContaining("endNs=999999");
    List<PeerSeat> unequal = seats(2);
    unequal.set(1, new PeerSeat("GPU-1", 1, 2, 7000));
    assertThatThrownBy(() -> PeerLauncher.ofRank(null, null, unequal, null, 0, BOUND))
        .hasMessageContaining("setBytes=7000 != rank=0 setBytes=6000");
  }

  @Test
  void shouldRefuseCallsThatAreNone() {
    ReduceContract sum = contract(ReduceOp.SUM, 3);
    assertThatThrownBy(() -> PeerCall.reduceScatter(sum, 100))
        .hasMessageContaining("count=100 is no multiple of world=3");
    assertThatThrownBy(() -> PeerCall.broadcast(DType.F16, 3, 3, 1)).hasMessageContaining("root=3");
    assertThatThrownBy(() -> PeerCall.allReduce(sum, -1)).hasMessageContaining("count=-1");
  }

  @Test
  void shouldSayWhoWasMissingWhereAndWhatBecameOfTheOutput() {
    CollectiveException start =
        report(PeerReport.Verdict.EXPIRED, PeerReport.Phase.START, 0b101, 0, 0);
    assertThat(start.code()).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(start.outState()).isEqualTo(OutState.UNTOUCHED);
    assertThat(start)
        .hasMessageContaining("call #41 of rank 1 refused: rank=0,2 of 3 missing")
        .hasMessageContaining("at the start barrier for 0.250 s; output untouched");
    CollectiveException end = report(PeerReport.Verdict.EXPIRED, PeerReport.Phase.END, 0b100, 0, 2);
    assertThat(end.code()).isEqualTo(ErrorCode.MEMORY_STILL_BORROWED);
    assertThat(end.outState()).isEqualTo(OutState.PARTLY_WRITTEN);
    assertThat(end).hasMessageContaining("rank=2 of 3 missing at the end barrier");
    assertThat(end).hasMessageContaining("output written by this rank, peers unknown");
    CollectiveException entered =
        report(PeerReport.Verdict.EXPIRED, PeerReport.Phase.START, 0b100, 0b1, 1);
    assertThat(entered.outState()).isEqualTo(OutState.PARTLY_WRITTEN);
    assertThat(entered).hasMessageContaining("rank=0 had entered, and has left");
    CollectiveException differs =
        report(PeerReport.Verdict.DIFFERS, PeerReport.Phase.PUSHED, 0, 0, 0);
    assertThat(differs.code()).isEqualTo(ErrorCode.PROTOCOL);
    assertThat(differs).hasMessageContaining("rank=2 word=0000002900000007 != rank=1 word=");
    assertThat(PeerReport.read(ByteBuffer.allocate(64))).isNull();
  }

  @Test
  void shouldChoosePathsBySizeAndRefuseTablesThatDoNotAscend() {
    PathTable two = PathTable.ofNvlink(2);
    assertThat(two.path(4L << 20)).isEqualTo(PeerPath.ONE_SHOT);
    assertThat(two.path((4L << 20) + 1)).isEqualTo(PeerPath.MAPPED);
    assertThat(PathTable.ofNvlink(8).path(1L << 20)).isEqualTo(PeerPath.MAPPED);
    PathTable bounded = PathTable.of(List.of(new PathTable.Row(10, PeerPath.MAPPED)));
    assertThat(bounded.path(11)).isEqualTo(PeerPath.STAGED);
    assertThat(PathTable.of(List.of()).path(0)).isEqualTo(PeerPath.STAGED);
    List<PathTable.Row> rows =
        List.of(new PathTable.Row(9, PeerPath.ONE_SHOT), new PathTable.Row(9, PeerPath.MAPPED));
    assertThatThrownBy(() -> PathTable.of(rows)).hasMessageContaining("row 1 mostBytes=9 <= row 0");
  }

  @Test
  void shouldReadTablesAsUsersWriteThem() {
    PathTable table = PathTable.parse("one_shot:64k, mapped:1m");
    assertThat(table.path(65_536)).isEqualTo(PeerPath.ONE_SHOT);
    assertThat(table.path(65_537)).isEqualTo(PeerPath.MAPPED);
    assertThat(table.path((1 << 20) + 1)).isEqualTo(PeerPath.STAGED);
    assertThat(table.mostOneShotBytes()).isEqualTo(65_536);
    assertThat(PathTable.parse("mapped").path(1L << 40)).isEqualTo(PeerPath.MAPPED);
    assertThat(PathTable.parse("mapped:12,staged").path(13)).isEqualTo(PeerPath.STAGED);
    assertThat(PathTable.parse("staged").path(0)).isEqualTo(PeerPath.STAGED);
    for (String wrong : List.of("", "pushed:1k", "mapped:x", "mapped:1:2", "staged,mapped")) {
      assertThatThrownBy(() -> PathTable.parse(wrong))
          .as(wrong)
          .isInstanceOfSatisfying(
              CollectiveException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_CONFIG))
          .hasMessageContaining("is no row");
    }
    assertThatThrownBy(() -> PathTable.parse("mapped:2k,one_shot:1k"))
        .hasMessageContaining("row 1 mostBytes=1024 <= row 0 mostBytes=2048");
  }

  private static CollectiveException report(
      PeerReport.Verdict verdict, PeerReport.Phase phase, int missing, int entered, int outcome) {
    ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.nativeOrder());
    bytes.putInt(4, List.of(PeerReport.Verdict.values()).indexOf(verdict));
    bytes.putInt(8, List.of(PeerReport.Phase.values()).indexOf(phase));
    bytes.putInt(12, 2).putInt(16, missing).putInt(20, entered).putInt(28, outcome);
    bytes.putLong(32, 41).putLong(40, 41L << 32 | 7).putLong(48, 41L << 32 | 8).putLong(56, 41);
    return PeerReport.read(bytes).toException(1, 3, PeerTimeouts.of(250_000_000));
  }

  private static ByteBuffer arguments(PeerCall call, PeerArguments.Split split, int ranks) {
    long[] addends = new long[call.contract().world()];
    for (int l = 0; l < addends.length; l++) {
      addends[l] = 0x5000L + 16L * l;
    }
    long[] outs = {0x4000, 0x4010, 0x4020};
    byte[] bytes =
        PeerArguments.of(
            call,
            split,
            new PeerOperands(addends, outs),
            seats(ranks),
            new long[] {0x3000, 0x3001, 0x3002},
            1,
            new PeerTimeouts(77, 5_000_000),
            16,
            new PeerFault(PeerFault.Kind.LATE, 2, 1, 9, 11));
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }

  private static List<PeerSeat> seats(int ranks) {
    List<PeerSeat> seats = new ArrayList<>();
    for (int r = 0; r < ranks; r++) {
      seats.add(new PeerSeat("GPU-" + r, 0x1000 + r, 0x2000 + r, 6000));
    }
    return seats;
  }

  private static ReduceContract contract(ReduceOp op, int world) {
    return new ReduceContract(DType.F32, op, FoldOrder.RANK_LEFT, world);
  }
}
