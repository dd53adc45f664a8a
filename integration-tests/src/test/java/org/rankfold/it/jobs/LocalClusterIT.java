// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs by bin/rankfold on a cluster of three executor processes, whose tasks are joined over TCP:
 * the bits of one JVM.
 */
class LocalClusterIT {
  private static final Path ROOT = Path.of(System.getProperty("rankfold.root"));
  private static final String CLUSTER = "local-cluster[3,1,1024]";

  @TempDir private Path folder;

  @Test
  void shouldReduceEveryGoldenRowRightBetweenProcesses() throws Exception {
    List<String> printed = run("digest", "--golden", "--tasks", "3", "--master", CLUSTER);
    assertEquals("golden: 732 ok, 0 wrong", printed.get(printed.size() - 1));
  }

  @Test
  void shouldTrainToTheBitsOfOneProcess() throws Exception {
    List<String> one = run("digits", "--epochs", "2", "--tasks", "2");
    List<String> three = run("digits", "--epochs", "2", "--tasks", "3", "--master", CLUSTER);
    assertEquals(one, three);
    assertTrue(one.get(one.size() - 1).startsWith("model sha256="), one::toString);
  }

  @Test
  void shouldTrainToTheBitsOfOneProcessWhenSparkEncrypts() throws Exception {
    List<String> printed =
        runWith(
            " --conf spark.network.crypto.enabled=true --conf spark.authenticate=true"
                + " --conf spark.authenticate.secret=a-secret-for-tests-only",
            "digits",
            "--tasks",
            "3",
            "--master",
            CLUSTER);
    assertEquals("model sha256=" + DigitsIT.PROMISED, printed.get(printed.size() - 1));
  }

  private List<String> run(String... arguments) throws IOException, InterruptedException {
    return runWith("", arguments);
  }

  private List<String> runWith(String options, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(ROOT.resolve("bin/rankfold").toString()));
    command.addAll(List.of(arguments));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectOutput(out.toFile()).redirectError(err.toFile()).directory(folder.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder
        .environment()
        .put("RANKFOLD_SUBMIT_OPTS", "--conf spark.rankfold.timeout.slots=120s" + options);
    Process process = builder.start();
    if (!process.waitFor(5, TimeUnit.MINUTES)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    String errors = Files.readString(err, StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), errors);
    return Files.readAllLines(out, StandardCharsets.UTF_8);
  }
}
