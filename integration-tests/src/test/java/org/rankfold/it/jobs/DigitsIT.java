// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.examples.RankfoldCommand;

class DigitsIT {
  /** The README promises this digest; it changes when the job or the contract does, never else. */
  private static final String PROMISED =
      "24a8020d583ab6c7490cf87d867b15f3b619abc92a8ddfa3899371c01e74a402";

  private static final Pattern DIGEST = Pattern.compile("sha256=([0-9a-f]{64})");
  private static final Pattern ACCURACY = Pattern.compile("(?m)^accuracy=(0\\.[0-9]+)$");

  @AfterEach
  void forgetSparkSettings() {
    System.getProperties().keySet().removeIf(key -> key.toString().startsWith("spark."));
  }

  @Test
  void shouldTrainToThePromisedBitsWhenRunAsTheReadmeSays() {
    String printed = run("digits", 2);
    assertEquals(List.of(PROMISED), digests(printed));
    Matcher accuracy = ACCURACY.matcher(printed);
    assertTrue(accuracy.find(), printed);
    assertTrue(Double.parseDouble(accuracy.group(1)) >= 0.96, printed);
  }

  @Test
  void shouldTrainToTheSameBitsWhateverTheTasks() {
    String one = run("digits", 1, "--epochs", "2");
    for (int tasks : new int[] {2, 3, 4, 8}) {
      String printed = run("digits", tasks, "--epochs", "2");
      assertEquals(one, printed, "tasks=" + tasks);
    }
    assertEquals(1, digests(one).size());
  }

  @Test
  void shouldTrainToOtherBitsWhenTheWorldOrSeedIsAnother() {
    List<String> eight = digests(run("digits", 2, "--epochs", "1"));
    assertNotEquals(eight, digests(run("digits", 2, "--epochs", "1", "--world", "7")));
    assertNotEquals(eight, digests(run("digits", 2, "--epochs", "1", "--seed", "43")));
  }

  @Test
  void shouldPrintOneDigestATaskWhenABarrierJobOfOnesOwnOpensAContext() {
    List<String> two = digests(run("existing-job", 2));
    List<String> three = digests(run("existing-job", 3));
    assertEquals(2, two.size());
    assertEquals(3, three.size());
    assertEquals(1, two.stream().distinct().count());
    assertEquals(two.get(0), three.get(2));
  }

  @Test
  void shouldEndWithOneLineThatSaysWhyWhenThereIsNoGpu() {
    CudaProbe probe = CudaProbe.process();
    assumeFalse(probe.isAvailable(), "there is a device: " + probe.versions());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertEquals(3, execute(out, err, "digits", 2, "--device", "gpu"));
    assertEquals("rankfold: UNSUPPORTED: " + probe.reason(), err.toString().strip());
    assertEquals("", out.toString());
  }

  private static String run(String job, int tasks, String... more) {
    StringWriter printed = new StringWriter();
    int status = execute(printed, printed, job, tasks, more);
    assertEquals(0, status, printed::toString);
    return printed.toString();
  }

  private static int execute(
      StringWriter out, StringWriter err, String job, int tasks, String... more) {
    System.setProperty("spark.master", "local[" + Math.max(2, tasks) + "]");
    System.setProperty("spark.plugins", "org.rankfold.spark.RankfoldPlugin");
    System.setProperty("spark.ui.enabled", "false");
    List<String> arguments = new ArrayList<>(List.of(job, "--tasks", Integer.toString(tasks)));
    arguments.addAll(List.of(more));
    return RankfoldCommand.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments.toArray(String[]::new));
  }

  private static List<String> digests(String printed) {
    return DIGEST.matcher(printed).results().map(result -> result.group(1)).toList();
  }
}
