// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.PathRule;

class SweepJobTest {
  private static final List<Long> SIZES = List.of(64L, 40_000L, 400_000L);

  private static SweepJob.Plan plan(DType dtype, MemoryKind kind) {
    return new SweepJob.Plan(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, SIZES, kind, 3);
  }

  @ParameterizedTest
  @EnumSource
  void shouldTimeEverySizeAndFindNothingWrong(DType dtype) {
    List<List<SweepJob.Size>> tasks =
        LoopbackGroup.of(5, 3).run(c -> SweepJob.run(c, plan(dtype, MemoryKind.ARENA)));
    assertThat(tasks).hasSize(3);
    assertThat(tasks.get(1)).isEqualTo(tasks.get(0));
    for (int i = 0; i < SIZES.size(); i++) {
      SweepJob.Size size = tasks.get(0).get(i);
      assertThat(size.count()).isEqualTo(SIZES.get(i) / dtype.bytes());
      assertThat(size.p50Us()).isPositive().isLessThanOrEqualTo(size.p99Us());
      assertThat(size.wrong()).isZero();
    }
  }

  @Test
  void shouldCountWrongElementsWhenADeliveryIsCorrupted() {
    List<List<SweepJob.Size>> tasks =
        LoopbackGroup.of(3, 3)
            .path(PathRule.STAGED)
            .fault(
                (sender, receiver, tag) ->
                    sender == 2 && receiver == 0 && tag.phase() == DeliveryTag.Phase.ADDEND
                        ? DeliveryFault.Action.CORRUPT
                        : DeliveryFault.Action.NONE)
            .run(c -> SweepJob.run(c, plan(DType.I32, MemoryKind.HEAP)));
    assertThat(tasks.get(0)).extracting(SweepJob.Size::wrong).allMatch(wrong -> wrong > 0);
  }

  @Test
  void shouldSayTheSameOnPaperAndInFiles(@TempDir Path folder) throws IOException {
    SweepReport report = new SweepReport(plan(DType.F32, MemoryKind.DIRECT), "tcp", "staged", 4, 4);
    List<SweepJob.Size> sizes = List.of(new SweepJob.Size(1 << 20, 1 << 18, 500, 900, 7));
    StringWriter text = new StringWriter();
    report.print(sizes, new PrintWriter(text, true));
    // 1 MiB in 500 us is 2.10 GB/s; of 4 tasks 1.5 times that crosses the bus.
    assertThat(text.toString())
        .containsPattern("1048576 +262144 +f32 +sum +500.0 +900.0 +2.10 +3.15 +7")
        .contains("sweep: 1 sizes, 7 wrong");
    report.writeCsv(sizes, folder.resolve("s.csv"));
    assertThat(Files.readAllLines(folder.resolve("s.csv")))
        .hasSize(2)
        .last()
        .asString()
        .isEqualTo(
            "1048576,262144,f32,sum,left,4,4,tcp,staged,direct,500.00,900.00,2.0972,3.1457,7");
    report.writeJson(sizes, folder.resolve("s.json"));
    assertThat(Files.readString(folder.resolve("s.json")))
        .contains("\"busbw\": 3.1457, \"wrong\": 7");
  }
}
