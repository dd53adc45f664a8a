// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.engine.PartialsRule;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Fold;
import org.rankfold.fold.ScalarFold;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/** What goes wrong must show: as a typed error on every task, or as a digest that is not golden. */
class WrongBitsTest {
  private static final List<GoldenRow> SUMS_FROM_THE_LEFT =
      GoldenTable.builtIn().stream()
          .filter(row -> row.contract().op() == ReduceOp.SUM)
          .filter(row -> row.contract().order() == FoldOrder.RANK_LEFT)
          .filter(row -> row.n() >= 1000 && row.n() < 5000)
          .toList();

  @ParameterizedTest
  @EnumSource(names = {"ADDEND", "RESULT"})
  void shouldTimeOutOnEveryTaskWhenADeliveryIsDropped(DeliveryTag.Phase phase) {
    List<CollectiveException> errors =
        errors(once(phase, DeliveryFault.Action.DROP), Duration.ofMillis(300));
    assertThat(errors).extracting(CollectiveException::code).containsOnly(ErrorCode.TIMEOUT);
    assertThat(errors.get(0).getMessage())
        .containsPattern("lacks the addends|folded chunks arrived|tasks arrived")
        .contains("waited 0.3 s");
  }

  @ParameterizedTest
  @EnumSource(names = {"ADDEND", "RESULT"})
  void shouldRefuseADeliveryOnEveryTaskWhenItIsRepeated(DeliveryTag.Phase phase) {
    List<CollectiveException> errors =
        errors(once(phase, DeliveryFault.Action.REPEAT), Duration.ofSeconds(20));
    assertThat(errors).extracting(CollectiveException::code).containsOnly(ErrorCode.PROTOCOL);
    assertThat(errors.get(0).getMessage()).contains("came before");
  }

  @Test
  void shouldMissTheDigestOnEveryTaskWhenAnAddendIsCorrupt() {
    GoldenRow row = row(DType.F32, InputKind.SPREAD, 5);
    List<String> digests =
        digests(
            row,
            3,
            (sender, receiver, tag) ->
                tag.phase() == DeliveryTag.Phase.ADDEND
                    ? DeliveryFault.Action.CORRUPT
                    : DeliveryFault.Action.NONE);
    assertThat(digests).doesNotContain(row.sha256());
  }

  @Test
  void shouldDisagreeWhenAResultIsCorrupt() {
    GoldenRow row = row(DType.F32, InputKind.SPREAD, 5);
    List<String> digests =
        digests(row, 3, once(DeliveryTag.Phase.RESULT, DeliveryFault.Action.CORRUPT));
    assertThat(digests).contains(row.sha256());
    assertThat(digests.stream().distinct()).hasSize(2);
  }

  /** Swapping ranks 0 and 1 alone cannot show: addition commutes. */
  @Test
  void shouldMissTheDigestWhenTwoRanksAreSwapped() {
    GoldenRow row = row(DType.F32, InputKind.SPREAD, 7);
    DeliveryFault swap =
        (sender, receiver, tag) ->
            tag.phase() == DeliveryTag.Phase.ADDEND && tag.index() == 4
                ? DeliveryFault.Action.SWAP
                : DeliveryFault.Action.NONE;
    assertThat(digests(row, 2, DeliveryFault.NONE)).containsOnly(row.sha256());
    assertThat(digests(row, 2, swap)).doesNotContain(row.sha256());
  }

  @Test
  void shouldMissDigestsWhenTheFoldStartsFromZero() {
    List<String> wrong = wrongRows(WrongBitsTest::foldFromZero);
    assertThat(wrong).isNotEmpty().allMatch(row -> row.contains("kind=edge"));
    assertThat(wrongRows(new ScalarFold())).isEmpty();
  }

  @Test
  void shouldMissDigestsWhenTheFoldFlushesSubnormalNumbers() {
    assertThat(wrongRows(WrongBitsTest::flushingFold))
        .anyMatch(row -> row.contains("dtype=f32") && row.contains("kind=edge"))
        .anyMatch(row -> row.contains("dtype=f32") && row.contains("kind=bits"));
  }

  private static void foldFromZero(ReduceContract contract, View[] addends, View[] outs) {
    View[] withZero = new View[addends.length + 1];
    withZero[0] = Layout.HEAP.view(contract.dtype(), (int) addends[0].count(), 0);
    System.arraycopy(addends, 0, withZero, 1, addends.length);
    ReduceContract longer =
        new ReduceContract(contract.dtype(), contract.op(), contract.order(), contract.world() + 1);
    new ScalarFold().fold(longer, withZero, outs);
  }

  /** As a processor with flush-to-zero and denormals-are-zero set would add. */
  private static void flushingFold(ReduceContract contract, View[] addends, View[] outs) {
    if (contract.dtype() != DType.F32) {
      new ScalarFold().fold(contract, addends, outs);
      return;
    }
    for (long i = 0; i < addends[0].count(); i++) {
      float sum = flushed(RawBits.read(addends[0], i));
      for (int r = 1; r < addends.length; r++) {
        float next = sum + flushed(RawBits.read(addends[r], i));
        sum = flushed(Float.floatToRawIntBits(next));
      }
      for (View out : outs) {
        RawBits.write(out, i, Float.floatToIntBits(sum));
      }
    }
  }

  private static float flushed(long bits) {
    float value = Float.intBitsToFloat((int) bits);
    return Math.abs(value) < Float.MIN_NORMAL ? Math.copySign(0f, value) : value;
  }

  private static List<String> wrongRows(Fold fold) {
    List<String> wrong = new ArrayList<>();
    for (GoldenRow row : SUMS_FROM_THE_LEFT) {
      LoopbackGroup group =
          LoopbackGroup.of(row.contract().world(), Math.min(2, row.contract().world())).fold(fold);
      if (!digests(row, group).stream().allMatch(row.sha256()::equals)) {
        wrong.add(row.describe());
      }
    }
    return wrong;
  }

  /** The fault hits the last rank's first addend to task 0, or task 0's first result to task 1. */
  private static DeliveryFault once(DeliveryTag.Phase phase, DeliveryFault.Action action) {
    return (sender, receiver, tag) -> {
      boolean hit =
          tag.phase() == phase
              && tag.chunk() == 0
              && (phase == DeliveryTag.Phase.ADDEND
                  ? receiver == 0 && tag.index() == 4
                  : sender == 0 && receiver == 1);
      return hit ? action : DeliveryFault.Action.NONE;
    };
  }

  /** The error of every task of three over world 5; a task without one fails the test. */
  private static List<CollectiveException> errors(DeliveryFault fault, Duration timeout) {
    GoldenRow row = row(DType.F32, InputKind.SPREAD, 5);
    RowInputs inputs = new RowInputs(row, Layout.HEAP);
    List<CollectiveException> errors = new ArrayList<>();
    IntStream.range(0, 3).forEach(task -> errors.add(null));
    try {
      LoopbackGroup.of(5, 3)
          .path(PathRule.STAGED)
          .chunkBytes(400)
          .fault(fault)
          .timeouts(timeout, Duration.ofSeconds(5))
          .run(
              communicator -> {
                View out = inputs.out(communicator.info().task());
                try {
                  communicator.allReduce(inputs.of(communicator.info()), out);
                  communicator.barrier();
                } catch (CollectiveException e) {
                  errors.set(communicator.info().task(), e);
                }
                return out;
              });
    } finally {
      assertThat(errors).doesNotContainNull();
    }
    return errors;
  }

  private static List<String> digests(GoldenRow row, int tasks, DeliveryFault fault) {
    return digests(
        row,
        LoopbackGroup.of(row.contract().world(), tasks)
            .path(PathRule.STAGED)
            .partials(PartialsRule.NEVER)
            .chunkBytes(400)
            .fault(fault));
  }

  private static List<String> digests(GoldenRow row, LoopbackGroup group) {
    RowInputs inputs = new RowInputs(row, Layout.HEAP);
    return group.run(
        communicator -> {
          View out = inputs.out(communicator.info().task());
          communicator.allReduce(
              row.contract().op(), row.contract().order(), inputs.of(communicator.info()), out);
          return BitDigest.of(out);
        });
  }

  private static GoldenRow row(DType dtype, InputKind kind, int world) {
    return SUMS_FROM_THE_LEFT.stream()
        .filter(row -> row.contract().dtype() == dtype)
        .filter(row -> row.kind() == kind && row.contract().world() == world)
        .findFirst()
        .orElseThrow();
  }
}
