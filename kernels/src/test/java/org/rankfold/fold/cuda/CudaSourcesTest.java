// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.Nvrtc;

/**
 * Compiles every CUDA source that any module ships, for every architecture, and reads what came
 * out; needs no device. A new source is found by itself. The fold, which is specialised, is here in
 * a few variants, and in all of them in {@link FoldSourceTest}; the peer kernels, which stand
 * behind it and may count atomically, have {@code PeerSourceTest}.
 */
class CudaSourcesTest {
  private static final String FUSED =
      "extern \"C\" __global__ void k(float *x) { x[0] = x[1] * x[2] + x[3]; }";

  @BeforeAll
  static void requireCompiler() {
    Compiler.require();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
  void shouldContractFlushAndRaceNowhereWhenCompiledFor(String architecture) {
    for (Source source : sources()) {
      String ptx = Nvrtc.ptx(source.text, source.name, source.options(architecture));
      assertThat(ptx).contains(".target " + architecture).contains(".entry ");
      assertThat(Ptx.offences(ptx)).as("%s for %s", source.name, architecture).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_90", "sm_100", "sm_120"})
  void shouldContractFlushAndRaceNowhereInMachineCodeFor(String architecture, @TempDir Path folder)
      throws IOException {
    Path disassembler = disassembler();
    for (Source source : sources()) {
      byte[] cubin = Nvrtc.cubin(source.text, source.name, source.options(architecture));
      String sass = Sass.of(disassembler, cubin, folder);
      assertThat(Sass.instructions(sass))
          .as("instructions of %s", source.name)
          .hasSizeGreaterThan(20);
      assertThat(Sass.offences(sass)).as("%s for %s", source.name, architecture).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_90", "sm_120"})
  void shouldFindFusedAndFlushedInstructionsInMachineCodeWhenThereAreSome(
      String architecture, @TempDir Path folder) throws IOException {
    Path disassembler = disassembler();
    List<String> options = new ArrayList<>(Nvrtc.exactOptions(architecture));
    assertThat(Sass.offences(Sass.of(disassembler, Nvrtc.cubin(FUSED, "k.cu", options), folder)))
        .isEmpty();
    options.replaceAll(option -> option.replace("--fmad=false", "--fmad=true"));
    assertThat(Sass.offences(Sass.of(disassembler, Nvrtc.cubin(FUSED, "k.cu", options), folder)))
        .anyMatch(line -> line.startsWith("FFMA R"));
    options.replaceAll(option -> option.replace("--ftz=false", "--ftz=true"));
    options.replaceAll(option -> option.replace("--fmad=true", "--fmad=false"));
    assertThat(Sass.offences(Sass.of(disassembler, Nvrtc.cubin(FUSED, "k.cu", options), folder)))
        .anyMatch(line -> line.startsWith("FADD.FTZ R"))
        .anyMatch(line -> line.startsWith("FMUL.FTZ R"));
  }

  @Test
  void shouldTellConstantsFromProductsWhenHalvesAreMultiplied() {
    String listing =
        """
                /*0310*/                   HFMA2.MMA R3, -RZ, RZ, 0, 0 ;
                /*0320*/              @!P0 HFMA2 R6, -RZ, RZ, 0, 5.9604644775390625e-08 ;
                /*0330*/               @P1 HFMA2 R6, R2, R3, RZ ;
                /*0340*/                   F2I.FTZ.U32.TRUNC.NTZ R5, R4 ;
                /*0350*/              @UP0 FSETP.GTU.FTZ.AND P0, PT, R1, RZ, PT ;
                /*0360*/                   RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5 ;
                /*0370*/                   FADD R1, R2, R3 ;
        """;
    assertThat(Sass.instructions(listing)).hasSize(7);
    assertThat(Sass.offences(listing))
        .containsExactly(
            "HFMA2 R6, R2, R3, RZ",
            "FSETP.GTU.FTZ.AND P0, PT, R1, RZ, PT",
            "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5");
  }

  private static Path disassembler() {
    return Sass.disassembler()
        .orElseGet(
            () -> {
              String reason = "no nvdisasm on the PATH: of the code only its PTX was read";
              System.out.println("SKIPPED: " + reason);
              return Assumptions.abort(reason);
            });
  }

  /** What is compiled: a source by itself, or with what it is specialised by. */
  private record Source(String name, String text, List<String> definitions) {
    List<String> options(String architecture) {
      List<String> options = new ArrayList<>(Nvrtc.exactOptions(architecture));
      options.addAll(definitions);
      return options;
    }
  }

  private static List<Source> sources() {
    List<Source> all = new ArrayList<>();
    Path root = Path.of(System.getProperty("rankfold.root"));
    for (Path file : files(root)) {
      if (file.endsWith("fold.cu")) {
        foldDefinitions().forEach(d -> all.add(new Source("fold.cu", FoldSource.text(), d)));
      } else if (!file.endsWith("peer.cu")) {
        all.add(new Source(root.relativize(file).toString(), read(file), List.of()));
      }
    }
    assertThat(all)
        .extracting(Source::name)
        .contains("fold.cu", "examples/src/main/resources/org/rankfold/examples/mlp.cu");
    return all;
  }

  private static List<List<String>> foldDefinitions() {
    return Stream.of(
            new ReduceContract(DType.F32, ReduceOp.MEAN, FoldOrder.RANK_LEFT, 3),
            new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_TREE, 17),
            new ReduceContract(DType.F64, ReduceOp.MEAN, FoldOrder.RANK_TREE, 8),
            new ReduceContract(DType.F16, ReduceOp.MEAN, FoldOrder.RANK_LEFT, 4),
            new ReduceContract(DType.BF16, ReduceOp.MEAN, FoldOrder.RANK_LEFT, 2),
            new ReduceContract(DType.F32, ReduceOp.MAX, FoldOrder.RANK_LEFT, 2))
        .map(
            contract ->
                FoldVariant.of(contract, FoldShape.DEFAULT).options("sm_90").stream()
                    .filter(option -> option.startsWith("-D"))
                    .toList())
        .toList();
  }

  private static List<Path> files(Path root) {
    try (Stream<Path> modules = Files.list(root)) {
      List<Path> found = new ArrayList<>();
      for (Path resources : modules.map(m -> m.resolve("src/main/resources")).toList()) {
        if (Files.isDirectory(resources)) {
          try (Stream<Path> files = Files.walk(resources)) {
            files.filter(file -> file.toString().endsWith(".cu")).sorted().forEach(found::add);
          }
        }
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
