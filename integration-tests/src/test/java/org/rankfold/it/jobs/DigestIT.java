// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.jobs;

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
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.digest.GoldenRow;
import org.rankfold.examples.RankfoldCommand;

/** The digest command in real barrier stages, as a user proves a cluster with it. */
class DigestIT {
  private static final String SHA =
      "5e6061884d247cad419c657b80fe7c1a9fb3c2c6e831e80888ffa185723b31b3";
  private static final String ROW = "f32\tsum\tleft\tspread\t5\t4097\t42\t" + SHA;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int execute(String... args) {
    return RankfoldCommand.commandLine()
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(args);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mapped", "staged", "mixed"})
  void shouldPrintTheOraclesDigestOnEveryPath(String path) {
    int code =
        execute(
            "digest --dtype f32 --op sum --order left --kind spread --world 5 --n 4097 --seed 42"
                .concat(" --tasks 3 --delivery shuffled:9 --chunk-bytes 1000 --master local[3]")
                .concat(" --memory arena --path " + path)
                .split(" ", -1));
    assertThat(err.toString()).isEmpty();
    assertThat(out.toString().lines())
        .containsExactly(
            "digest dtype=f32 op=sum order=left kind=spread world=5 n=4097 seed=42 tasks=3"
                + " transport=loopback path="
                + path
                + " sha256="
                + SHA);
    assertThat(code).isZero();
  }

  @Test
  void shouldReachEveryRowOfTheBuiltInTable() {
    assertThat(execute("digest", "--golden", "--tasks", "2", "--master", "local[2]")).isZero();
    assertThat(out.toString().lines()).containsExactly("golden: 732 ok, 0 wrong");
  }

  @Test
  void shouldExitWith1AndNameTheRowWhenATableIsWrong(@TempDir Path folder) throws IOException {
    String wrong = ROW.replace("\t42\t", "\t43\t");
    Path table = folder.resolve("table.tsv");
    Files.write(table, List.of(GoldenRow.HEADER, ROW, wrong));
    assertThat(
            execute("digest", "--golden", table.toString(), "--tasks", "2", "--master", "local[2]"))
        .isEqualTo(1);
    assertThat(out.toString().lines().toList())
        .hasSize(2)
        .satisfies(
            lines -> {
              assertThat(lines.get(0)).startsWith("wrong ").contains("seed=43", SHA);
              assertThat(lines.get(1)).isEqualTo("golden: 1 ok, 1 wrong");
            });
  }

  @Test
  void shouldExitWith3AndOneLineWhenThereAreTooFewSlots() {
    assertThat(execute("digest", "--tasks", "3", "--master", "local[2]")).isEqualTo(3);
    assertThat(err.toString().lines())
        .singleElement()
        .asString()
        .startsWith("rankfold: TOO_FEW_SLOTS: ");
    assertThat(out.toString()).isEmpty();
  }
}
