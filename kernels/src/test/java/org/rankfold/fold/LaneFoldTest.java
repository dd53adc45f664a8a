// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

class LaneFoldTest {
  private static final long SEED = Long.getLong("seed", 42);
  private static final int[] BLOCK_SIZES = {64, 128, 256};
  private static final int[] WORLDS = {
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 128
  };

  static Stream<Arguments> foldsAndMemories() {
    return Stream.of("lane-plain", "lane-vector")
        .flatMap(fold -> Stream.of(TestMemory.values()).map(memory -> Arguments.of(fold, memory)));
  }

  static Stream<Arguments> foldsAndTypes() {
    return Stream.of("lane-plain", "lane-vector")
        .flatMap(fold -> Stream.of(DType.values()).map(dtype -> Arguments.of(fold, dtype)));
  }

  private static Fold fold(String name) {
    Assumptions.assumeTrue(
        !name.equals("lane-vector")
            || ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent(),
        "this JVM runs without jdk.incubator.vector");
    return Folds.named(name);
  }

  private static List<Integer> lengths() {
    List<Integer> lengths =
        new ArrayList<>(List.of(0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 1000, 4097));
    for (int block : BLOCK_SIZES) {
      lengths.addAll(List.of(block - 1, block, block + 1));
    }
    return lengths;
  }

  @ParameterizedTest
  @MethodSource("foldsAndMemories")
  void shouldReachEveryGoldenRow(String name, TestMemory memory) {
    assertThat(GoldenFolds.wrongRows(fold(name), memory)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("foldsAndTypes")
  void shouldHaveTheBitsOfTheScalarFold(String name, DType dtype) {
    Fold fold = fold(name);
    SplittableRandom random = new SplittableRandom(SEED);
    for (ReduceOp op : ReduceOp.values()) {
      if (op == ReduceOp.MEAN && !dtype.isFloating()) {
        continue;
      }
      for (FoldOrder order : FoldOrder.values()) {
        for (int world : WORLDS) {
          for (int n : lengths()) {
            if (world < 128 || n < 300) {
              compare(fold, new ReduceContract(dtype, op, order, world), n, random);
            }
          }
        }
      }
    }
  }

  /** More than two stretches of every type, with a NaN now and then. */
  @ParameterizedTest
  @MethodSource("foldsAndTypes")
  void shouldHaveTheBitsOfTheScalarFoldOverManyStretches(String name, DType dtype) {
    Fold fold = fold(name);
    SplittableRandom random = new SplittableRandom(SEED);
    int n = 2 * BlockFold.STRETCH_BLOCKS * 256 + 257;
    for (FoldOrder order : FoldOrder.values()) {
      compare(fold, new ReduceContract(dtype, ReduceOp.SUM, order, 9), n, random);
      compare(fold, new ReduceContract(dtype, ReduceOp.MAX, order, 3), n, random);
    }
  }

  /** Addends in random memory; outputs of their own and, now and then, one that is an addend. */
  private static void compare(Fold fold, ReduceContract contract, int n, SplittableRandom random) {
    DType dtype = contract.dtype();
    InputKind[] kinds = InputKind.values();
    InputKind kind = dtype.isFloating() ? kinds[random.nextInt(kinds.length)] : InputKind.BITS;
    long seed = random.nextLong();
    View[] addends = new View[contract.world()];
    View[] copies = new View[contract.world()];
    int level = random.nextInt(3) == 0 ? random.nextInt(9) : -1;
    for (int r = 0; r < addends.length; r++) {
      addends[r] = place(dtype, n, level, random);
      copies[r] = TestMemory.HEAP.view(dtype, n, 0);
      OracleInputs.fill(addends[r], kind, seed, r, 0);
      addends[r].copyTo(copies[r]);
    }
    View expected = TestMemory.HEAP.view(dtype, n, 0);
    new ScalarFold().fold(contract, copies, new View[] {expected});

    View[] outs = new View[1 + random.nextInt(3)];
    int inPlace = -1;
    for (int i = 0; i < outs.length; i++) {
      outs[i] = place(dtype, n, i == 1 ? -1 : level, random);
    }
    if (random.nextBoolean()) {
      inPlace = random.nextInt(addends.length);
      outs[random.nextInt(outs.length)] = addends[inPlace];
    }
    fold.fold(contract, addends, outs);

    String digest = BitDigest.of(expected);
    for (int i = 0; i < outs.length; i++) {
      assertThat(BitDigest.of(outs[i]))
          .as(
              "%s kind=%s n=%d out=%d in place=%d -Dseed=%d",
              contract.id(), kind, n, i, inPlace, SEED)
          .isEqualTo(digest);
    }
    for (int r = 0; r < addends.length; r++) {
      if (r != inPlace) {
        assertThat(BitDigest.of(addends[r]))
            .as("%s addend=%d is only read", contract.id(), r)
            .isEqualTo(BitDigest.of(copies[r]));
      }
    }
  }

  /** In an array at element {@code level}, or anywhere when that is negative. */
  private static View place(DType dtype, int n, int level, SplittableRandom random) {
    if (level >= 0) {
      return TestMemory.heap(dtype, n, level);
    }
    return random.nextBoolean()
        ? TestMemory.heap(dtype, n, random.nextInt(9))
        : TestMemory.direct(dtype, n, random.nextInt(17));
  }

  @ParameterizedTest
  @ValueSource(strings = {"scalar", "lane-plain", "lane-vector"})
  void shouldWriteNothingBesideTheOutput(String name) {
    Fold fold = fold(name);
    for (DType dtype : DType.values()) {
      for (int n : new int[] {0, 1, 3, 129, 257, 515}) {
        View whole = TestMemory.HEAP.view(dtype, n + 20, 0);
        View wholeDirect = TestMemory.DIRECT.view(dtype, n + 20, 0);
        OracleInputs.fill(whole, InputKind.BITS, SEED, 9, 0);
        whole.copyTo(wholeDirect);
        View before = TestMemory.HEAP.view(dtype, n + 20, 0);
        whole.copyTo(before);
        View[] addends = {TestMemory.HEAP.view(dtype, n, 0), TestMemory.HEAP.view(dtype, n, 0)};
        fold.fold(
            new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2),
            addends,
            new View[] {whole.slice(7, n), wholeDirect.slice(7, n)});
        for (int i = 0; i < n + 20; i++) {
          long expected = i < 7 || i >= 7 + n ? RawBits.read(before, i) : 0;
          assertThat(RawBits.read(whole, i)).as("%s n=%d i=%d", dtype, n, i).isEqualTo(expected);
          assertThat(RawBits.read(wholeDirect, i)).isEqualTo(expected);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"scalar", "lane-plain", "lane-vector"})
  void shouldSayTheBrokenRelationWhenViewsDoNotFit(String name) {
    Fold fold = fold(name);
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2);
    View three = View.of(new float[3]);
    View four = View.of(new float[4]);
    View ints = View.of(new int[3]);
    refuses(fold, contract, views(three), views(three), "addends=1 != world=2");
    refuses(fold, contract, views(three, three), views(), "outs=0 < 1");
    refuses(
        fold, contract, views(three, four), views(three), "addend=1 count=4 != addend=0 count=3");
    refuses(fold, contract, views(three, three), views(four), "out=0 count=4 != addend=0 count=3");
    refuses(
        fold,
        contract,
        views(three, ints),
        views(three),
        "addend=1 dtype=i32 != contract dtype=f32");
    refuses(
        fold, contract, views(three, three), views(ints), "out=0 dtype=i32 != contract dtype=f32");
  }

  private static View[] views(View... views) {
    return views;
  }

  private static void refuses(
      Fold fold, ReduceContract contract, View[] addends, View[] outs, String message) {
    assertThatThrownBy(() -> fold.fold(contract, addends, outs))
        .isInstanceOf(CollectiveException.class)
        .hasMessage(message);
  }

  @Test
  void shouldNameTheFoldsWhenThereIsNoneOfThatName() {
    assertThatThrownBy(() -> Folds.named("fast"))
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
        .hasMessage("fold=fast is none of: scalar, lane, lane-plain, lane-vector");
  }

  @Test
  void shouldSayWhichLoopsConvertHalves() {
    assertThat(Folds.named("lane-plain")).hasToString("lane (halves: plain loops)");
    boolean vectors = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
    assertThat(Folds.fastest().toString())
        .startsWith(vectors ? "lane (halves: Vector API, " : "lane (halves: plain loops)");
  }
}
