// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.Nvrtc;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Compiles the fold for every architecture and reads what came out; needs no device. */
class FoldSourceTest {
  private static final String SOURCE = FoldSource.text();

  @BeforeAll
  static void requireCompiler() {
    Compiler.require();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
  void shouldContractFlushAndRaceNowhereWhenCompiledFor(String architecture) {
    List<ReduceContract> some = new ArrayList<>();
    for (DType dtype : DType.values()) {
      ReduceOp op = dtype.isFloating() ? ReduceOp.MEAN : ReduceOp.SUM;
      some.add(new ReduceContract(dtype, op, FoldOrder.RANK_LEFT, 2));
      some.add(new ReduceContract(dtype, ReduceOp.MAX, FoldOrder.RANK_TREE, 5));
    }
    some.add(new ReduceContract(DType.F16, ReduceOp.MEAN, FoldOrder.RANK_TREE, 9));
    assertNoOffences(some, architecture);
  }

  /** All kinds of folds for all architectures: some minutes. */
  @Tag("nightly")
  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
  void shouldContractFlushAndRaceNowhereInAnyFoldCompiledFor(String architecture) {
    assertNoOffences(contracts(5), architecture);
    assertNoOffences(contracts(17), architecture);
  }

  @Test
  void shouldContractFlushAndRaceNowhereInAnyWorld() {
    List<ReduceContract> worlds = new ArrayList<>();
    for (int world : new int[] {1, 3, 4, 6, 7, 8, 17, 129}) {
      FoldOrder order = world % 2 == 0 ? FoldOrder.RANK_LEFT : FoldOrder.RANK_TREE;
      worlds.add(new ReduceContract(DType.F32, ReduceOp.MEAN, order, world));
    }
    assertNoOffences(worlds, "sm_90");
  }

  @Test
  void shouldAddAndScaleWithRoundingWhenReducingFloats() {
    ReduceContract mean = new ReduceContract(DType.F32, ReduceOp.MEAN, FoldOrder.RANK_LEFT, 2);
    String ptx = Nvrtc.ptx(SOURCE, "fold.cu", variant(mean).options("sm_90"));
    assertThat(Ptx.count(ptx, "add.rn.f32")).isPositive();
    assertThat(Ptx.count(ptx, "mul.rn.f32")).isPositive();
    assertThat(Ptx.count(ptx, "ld.global.cs.v4")).isPositive();
  }

  @Test
  void shouldFindFusedMultiplyAddWhenTheCompilerMayContract() {
    String source = "extern \"C\" __global__ void k(float *x) { x[0] = x[1] * x[2] + x[3]; }";
    String fused = Nvrtc.ptx(source, "k.cu", List.of("--gpu-architecture=sm_90", "--fmad=true"));
    assertThat(Ptx.offences(fused)).anyMatch(line -> line.startsWith("fma.rn.f32"));
    ReduceContract any = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2);
    String ours = Nvrtc.ptx(source, "k.cu", variant(any).options("sm_90"));
    assertThat(Ptx.offences(ours)).isEmpty();
    assertThat(Ptx.count(ours, "add.rn.f32")).isEqualTo(1);
  }

  @Test
  void shouldFindFlushedSubnormalsWhenTheCompilerMayFlush() {
    ReduceContract sum = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2);
    List<String> options = new ArrayList<>(variant(sum).options("sm_90"));
    options.replaceAll(option -> option.equals("--ftz=false") ? "--ftz=true" : option);
    assertThat(Ptx.offences(Nvrtc.ptx(SOURCE, "fold.cu", options)))
        .anyMatch(line -> line.startsWith("add.rn.ftz.f32"));
  }

  @Test
  void shouldSayWhatTheCompilerSaidWhenTheSourceIsBroken() {
    assertThatThrownBy(
            () -> Nvrtc.cubin("__global__ void k() { int x = y; }", "broken.cu", List.of()))
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.DEVICE_CALL_FAILED))
        .hasMessageContaining("identifier \"y\" is undefined")
        .hasMessageContaining("broken.cu");
  }

  @Test
  void shouldCompileOnceWhenTheSameCodeIsWantedAgain(@TempDir Path folder) {
    CubinCache cache = new CubinCache(folder);
    List<String> options =
        variant(new ReduceContract(DType.F64, ReduceOp.SUM, FoldOrder.RANK_TREE, 3))
            .options("sm_90");
    byte[] first = cache.cubin(SOURCE, options);
    assertThat(folder.toFile().list()).hasSize(1);
    long startNs = System.nanoTime();
    byte[] second = cache.cubin(SOURCE, options);
    long againNs = System.nanoTime() - startNs;
    assertThat(second).isEqualTo(first);
    // Read, not compiled: a compilation takes a hundred times as long.
    assertThat(againNs).isLessThan(50_000_000L);
    cache.cubin(SOURCE + "\n", options);
    assertThat(folder.toFile().list()).hasSize(2);
    assertThat(new CubinCache(null).cubin(SOURCE, options)).isEqualTo(first);
  }

  private static void assertNoOffences(List<ReduceContract> contracts, String architecture) {
    List<String> offences =
        contracts.parallelStream()
            .flatMap(
                contract -> {
                  FoldVariant variant = variant(contract);
                  String ptx = Nvrtc.ptx(SOURCE, "fold.cu", variant.options(architecture));
                  assertThat(ptx).contains(".target " + architecture).contains(".entry fold(");
                  return Ptx.offences(ptx).stream().map(line -> variant + ": " + line);
                })
            .toList();
    assertThat(offences).isEmpty();
  }

  private static FoldVariant variant(ReduceContract contract) {
    return FoldVariant.of(contract, FoldShape.DEFAULT);
  }

  private static List<ReduceContract> contracts(int world) {
    List<ReduceContract> all = new ArrayList<>();
    for (DType dtype : DType.values()) {
      for (ReduceOp op : ReduceOp.values()) {
        for (FoldOrder order : FoldOrder.values()) {
          if (op != ReduceOp.MEAN || dtype.isFloating()) {
            all.add(new ReduceContract(dtype, op, order, world));
          }
        }
      }
    }
    return all;
  }
}
