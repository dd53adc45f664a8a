// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class RankfoldCommandTest {
  private static final GoldenRow ROW = GoldenTable.builtIn().get(0);

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int execute(String... args) {
    return commandLine().execute(args);
  }

  private CommandLine commandLine() {
    return RankfoldCommand.commandLine()
        .addSubcommand(new FailingJob())
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err));
  }

  private DigestReport report() {
    return new DigestReport(new PrintWriter(out), new PrintWriter(err));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no-such-job",
        "digest --dtype f33",
        "digest --dtype i32 --kind spread",
        "digest --dtype i32 --op mean",
        "digest --world 0",
        "digest --world 2 --tasks 3",
        "digest --n -1",
        "digest --seed x",
        "digest --path sideways",
        "digest --delivery sometimes",
        "digest --chunk-bytes 0",
        "digest --transport pigeon",
        "digest --golden /no/such/file.tsv",
        "digits --device tpu",
        "digits --device gpu --device-transport pigeon",
        "fashion --device tpu"
      })
  void shouldExitWith2WhenTheCommandLineMakesNoSense(String line) {
    assertThat(execute(line.isEmpty() ? new String[0] : line.split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).isNotBlank();
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void shouldExitWith3AndOneLineWhenAJobFails() {
    assertThat(execute("fail")).isEqualTo(3);
    assertThat(err.toString().lines())
        .containsExactly(
            "rankfold: PEER_FAILED: digest: task 1 failed;"
                + " first cause: java.lang.IllegalStateException: out of luck");
  }

  @Test
  void shouldPrintTheStackOfAFailureWhenVerbose() {
    assertThat(execute("fail", "--verbose")).isEqualTo(3);
    assertThat(err.toString()).contains("\tat " + FailingJob.class.getName());
  }

  @Test
  void shouldPrintTheDigestThatAllTasksAgreeOn() {
    assertThat(report().one(ROW, tasks("aa", "aa"))).isEqualTo(0);
    assertThat(out.toString().lines())
        .containsExactly(
            "digest " + ROW.describe() + " tasks=2 transport=loopback path=staged sha256=aa");
  }

  @Test
  void shouldExitWith1AndNameTheTasksWhenTheyDisagree() {
    assertThat(report().one(ROW, tasks("aa", "bb", "aa"))).isEqualTo(1);
    assertThat(err.toString()).contains("disagree", "aa=task 0, task 2", "bb=task 1");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void shouldNameGoldenRowsThatAreWrong() {
    assertThat(report().wrong(List.of(ROW), tasks(ROW.sha256(), ROW.sha256()))).isEqualTo(0);
    assertThat(out.toString()).isEmpty();
    assertThat(report().wrong(List.of(ROW), tasks(ROW.sha256(), "bb"))).isEqualTo(1);
    assertThat(report().wrong(List.of(ROW), tasks("bb", "bb"))).isEqualTo(1);
    assertThat(out.toString().lines()).hasSize(2).allMatch(line -> line.contains(ROW.describe()));
  }

  private static List<DigestStage.TaskDigests> tasks(String... digests) {
    List<DigestStage.TaskDigests> tasks = new ArrayList<>();
    for (String digest : digests) {
      tasks.add(new DigestStage.TaskDigests("loopback", "staged", List.of(digest)));
    }
    return tasks;
  }

  @Command(name = "fail")
  private static final class FailingJob implements Callable<Integer> {
    @Override
    public Integer call() {
      throw new CollectiveException(
          ErrorCode.PEER_FAILED, "digest: task 1 failed", new IllegalStateException("out of luck"));
    }
  }
}
