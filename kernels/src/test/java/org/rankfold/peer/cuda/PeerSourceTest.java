// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.Nvrtc;
import org.rankfold.fold.cuda.Compiler;
import org.rankfold.fold.cuda.FoldCode;
import org.rankfold.fold.cuda.Ptx;

/** Compiles the peer kernels for every architecture and reads what came out; needs no device. */
class PeerSourceTest {
  private static final String SOURCE = PeerSource.text();

  /** Words are changed and blocks counted atomically, as integers; elements never are. */
  private static final Pattern WORD_ATOMIC =
      Pattern.compile("(@%p\\d+ )?(atom|red)\\.\\S*\\.(u32|s32|b32|b64)\\s.*");

  private static final Pattern NON_COHERENT = Pattern.compile("\\bld\\.\\S*\\.nc\\b|\\bldu\\.");

  @BeforeAll
  static void requireCompiler() {
    Compiler.require();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
  void shouldAddAsTheFoldDoesAndLoadCoherentlyWhenCompiledFor(String architecture) {
    List<ReduceContract> some =
        List.of(
            new ReduceContract(DType.F32, ReduceOp.MEAN, FoldOrder.RANK_LEFT, 2),
            new ReduceContract(DType.BF16, ReduceOp.SUM, FoldOrder.RANK_TREE, 5),
            new ReduceContract(DType.F64, ReduceOp.MAX, FoldOrder.RANK_LEFT, 9));
    assertThat(some.parallelStream().flatMap(c -> offences(c, false, architecture).stream()))
        .isEmpty();
    assertThat(offences(PeerCall.movement(3), true, architecture)).isEmpty();
  }

  /** All kinds of folds for all architectures: some minutes. */
  @Tag("nightly")
  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
  void shouldAddAsTheFoldDoesInAnyContractCompiledFor(String architecture) {
    List<ReduceContract> all = new ArrayList<>();
    for (DType dtype : DType.values()) {
      for (ReduceOp op : ReduceOp.values()) {
        for (FoldOrder order : FoldOrder.values()) {
          if (op != ReduceOp.MEAN || dtype.isFloating()) {
            all.add(new ReduceContract(dtype, op, order, 3));
            all.add(new ReduceContract(dtype, op, order, 8));
          }
        }
      }
    }
    assertThat(all.parallelStream().flatMap(c -> offences(c, false, architecture).stream()))
        .isEmpty();
  }

  @Test
  void shouldMeetByReleaseAndAcquireOfTheWholeSystem() {
    String ptx = ptx(sum(3), false, "sm_90", List.of());
    assertThat(Ptx.count(ptx, "ld.acquire.sys.u64")).isPositive();
    assertThat(Ptx.count(ptx, "st.release.sys.u64")).isPositive();
    assertThat(Ptx.count(ptx, "atom.acq_rel.sys.cas.b64")).isPositive();
    assertThat(Ptx.count(ptx, "fence.acq_rel.sys")).isEqualTo(1);
    assertThat(ptx).contains(".visible .entry peers(").doesNotContain(".entry fold(");
  }

  @Test
  void shouldMoveWithoutAddingWhenMovementIsCompiled() {
    String ptx = ptx(PeerCall.movement(2), true, "sm_90", List.of());
    assertThat(ptx.lines().map(String::strip).filter(line -> line.matches("\\w+\\.\\S*f\\d+\\s.*")))
        .isEmpty();
  }

  @Test
  void shouldKnowFaultsInTestsOnly() {
    String shipped = ptx(sum(2), false, "sm_90", List.of());
    String faulty = ptx(sum(2), false, "sm_90", List.of("-DRF_FAULTS"));
    assertThat(faulty.lines().filter(line -> line.contains("globaltimer")).count())
        .isGreaterThan(shipped.lines().filter(line -> line.contains("globaltimer")).count());
    assertThat(faulty.lines().count()).isGreaterThan(shipped.lines().count());
  }

  @Test
  void shouldFindNonCoherentLoadsWhenPeersMemoryIsTakenForConstant() {
    String source =
        "extern \"C\" __global__ void k(const float *__restrict__ x, float *__restrict__ y)"
            + " { y[threadIdx.x] = x[threadIdx.x]; }";
    String ptx = Nvrtc.ptx(source, "k.cu", List.of("--gpu-architecture=sm_90"));
    assertThat(ptx).containsPattern(NON_COHERENT);
  }

  private static List<String> offences(
      ReduceContract contract, boolean isMovement, String architecture) {
    String ptx = ptx(contract, isMovement, architecture, List.of());
    List<String> found = new ArrayList<>(Ptx.offences(ptx));
    found.removeIf(line -> WORD_ATOMIC.matcher(line).matches());
    ptx.lines().filter(line -> NON_COHERENT.matcher(line).find()).forEach(found::add);
    found.replaceAll(line -> architecture + " " + contract.id() + ": " + line);
    return found;
  }

  private static String ptx(
      ReduceContract contract, boolean isMovement, String architecture, List<String> more) {
    List<String> options = PeerSource.options(FoldCode.of(contract), isMovement, architecture);
    options.addAll(more);
    return Nvrtc.ptx(SOURCE, "peer.cu", options);
  }

  private static ReduceContract sum(int world) {
    return new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, world);
  }
}
