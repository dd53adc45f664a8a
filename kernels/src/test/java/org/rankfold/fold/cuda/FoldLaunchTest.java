// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.view.DevicePort;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

class FoldLaunchTest {
  private static final int ACCESS_AT = 36;

  @ParameterizedTest
  @CsvSource({
    "F32, 1024, 2048, 4096, 2", // all at multiples of 16
    "F32, 1028, 2052, 4100, 2", // all 4 past one
    "F32, 1028, 2048, 4096, 1",
    "F32, 1024, 2048, 4100, 1",
    "F32, 1025, 2049, 4097, 0", // alike, but no element starts there
    "F32, 1024, 2050, 4096, 0",
    "F16, 1026, 2048, 4096, 1",
    "F64, 1028, 2052, 4100, 0",
  })
  void shouldChooseTheWidestAccessThatEveryPointerAllows(
      DType dtype, long addend0, long addend1, long out, int access) {
    ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2);
    ByteBuffer args =
        arguments(contract, new long[] {addend0, addend1}, new long[] {out}, 100, 16, 100, 0);
    assertThat(args.getInt(ACCESS_AT)).isEqualTo(access);
  }

  @Test
  void shouldLayOutTheStructAsTheSourceDeclaresIt() {
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.MEAN, FoldOrder.RANK_TREE, 3);
    ByteBuffer args =
        arguments(contract, new long[] {16, 32, 48}, new long[] {64, 80}, 1L << 33, 16, 7, 5);
    assertThat(args.capacity()).isEqualTo(40 + 8 * 16 + 8 * 16);
    assertThat(args.getLong(0)).isEqualTo(1L << 33);
    assertThat(args.getLong(8)).isEqualTo(7);
    assertThat(args.getDouble(16)).isEqualTo(1.0f / 3);
    assertThat(args.getInt(24)).isEqualTo(3);
    assertThat(args.getInt(28)).isEqualTo(2);
    assertThat(args.getInt(32)).isEqualTo(5);
    assertThat(args.getLong(40)).isEqualTo(64);
    assertThat(args.getLong(48)).isEqualTo(80);
    assertThat(args.getLong(168)).isEqualTo(16);
    assertThat(args.getLong(184)).isEqualTo(48);
  }

  @ParameterizedTest
  @CsvSource({"F32, 0, 3, 4", "F32, 100, 3, 36", "F16, 1000, 8, 128", "I64, 7, 7, 2"})
  void shouldCutShardsAtVectorsAndCoverEverything(DType dtype, long count, int ranks, long shard) {
    assertThat(FoldLaunch.shardElements(count, ranks, dtype)).isEqualTo(shard);
    assertThat(shard * ranks).isGreaterThanOrEqualTo(count);
  }

  @Test
  void shouldCompileSmallWorldsInAndRefuseWhatArgumentsCannotHold() {
    assertThat(variant(8).fixedWorld()).isEqualTo(8);
    assertThat(variant(9).fixedWorld()).isZero();
    assertThat(variant(16).capacity()).isEqualTo(16);
    assertThat(variant(17).capacity()).isEqualTo(128);
    assertThat(variant(129).capacity()).isEqualTo(4000);
    assertThat(40 + 8 * (16 + variant(4000).capacity())).isLessThanOrEqualTo(32_764);
    assertThatThrownBy(() -> variant(4001))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("world=4001 > 4000");
  }

  @Test
  void shouldReadNothingBackWhenACachedFileIsDamaged(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("deep").resolve("some.cubin");
    assertThat(CubinCache.read(file)).isNull();
    CubinCache.write(file, new byte[] {1, 2, 3});
    assertThat(CubinCache.read(file)).containsExactly(1, 2, 3);
    assertThat(folder.resolve("deep").toFile().list()).containsExactly("some.cubin");
    byte[] all = Files.readAllBytes(file);
    all[all.length - 1] ^= 1;
    Files.write(file, all);
    assertThat(CubinCache.read(file)).isNull();
    Files.write(file, new byte[5]);
    assertThat(CubinCache.read(file)).isNull();
  }

  private static FoldVariant variant(int world) {
    return FoldVariant.of(
        new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, world), FoldShape.DEFAULT);
  }

  private static ByteBuffer arguments(
      ReduceContract contract,
      long[] addends,
      long[] outs,
      long count,
      int capacity,
      long shard,
      int firstRank) {
    byte[] bytes =
        FoldLaunch.arguments(
            contract,
            FoldLaunch.scale(contract),
            views(addends, contract.dtype(), count),
            views(outs, contract.dtype(), count),
            capacity,
            shard,
            firstRank);
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }

  private static DeviceView[] views(long[] addresses, DType dtype, long count) {
    DeviceView[] views = new DeviceView[addresses.length];
    for (int i = 0; i < views.length; i++) {
      views[i] = DeviceView.of(new NowherePort(), addresses[i], dtype, count);
    }
    return views;
  }

  /** A device that nothing can be copied from or to. */
  private static final class NowherePort implements DevicePort {
    @Override
    public String name() {
      return "nowhere";
    }

    @Override
    public void read(DeviceView device, View host) {
      throw new AssertionError("read of " + device);
    }

    @Override
    public void write(View host, DeviceView device) {
      throw new AssertionError("write of " + device);
    }

    @Override
    public void copy(DeviceView from, DeviceView to) {
      throw new AssertionError("copy of " + from);
    }
  }
}
