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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs by bin/rankfold on a cluster of three executor processes, whose tasks are joined by shared
 * memory or over TCP: the bits of one JVM.
 */
class LocalClusterIT {
  private static final Path ROOT = Path.of(System.getProperty("rankfold.root"));
  private static final String CLUSTER = "local-cluster[3,1,1024]";

  @TempDir private Path folder;

  /** The README promises this digest. */
  private static final String PROMISED =
      "model sha256=24a8020d583ab6c7490cf87d867b15f3b619abc92a8ddfa3899371c01e74a402";

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "sharedmemory"})
  void shouldReduceEveryGoldenRowRightBetweenProcesses(String transport) throws Exception {
    List<String> printed =
        run(
            "",
            "digest",
            "--golden",
            "--tasks",
            "3",
            "--master",
            CLUSTER,
            "--transport",
            transport);
    assertEquals("golden: 732 ok, 0 wrong", printed.get(printed.size() - 1));
  }

  @Test
  void shouldShareMemoryWhenAutoFindsAllTasksOnOneHost() throws Exception {
    String[] digest = {"digest", "--world", "5", "--n", "100003", "--tasks", "3"};
    String one = last(run("", digest));
    List<String> words = new ArrayList<>(List.of(digest));
    words.addAll(List.of("--master", CLUSTER));
    String three = last(run("", words.toArray(String[]::new)));
    assertTrue(three.contains(" transport=sharedmemory path=mixed "), three);
    assertEquals(hash(one), hash(three));
  }

  @Test
  void shouldTrainToTheBitsOfOneProcessOverTcp() throws Exception {
    List<String> one = run("", "digits", "--epochs", "2", "--tasks", "2");
    List<String> three =
        run(
            " --conf spark.rankfold.transport=tcp",
            "digits",
            "--epochs",
            "2",
            "--tasks",
            "3",
            "--master",
            CLUSTER);
    assertEquals(one, three);
    assertTrue(last(one).startsWith("model sha256="), one::toString);
  }

  @Test
  void shouldTrainToTheBitsOfOneProcessWhenSparkEncrypts() throws Exception {
    List<String> printed =
        run(
            " --conf spark.network.crypto.enabled=true --conf spark.authenticate=true"
                + " --conf spark.authenticate.secret=a-secret-for-tests-only"
                + " --conf spark.rankfold.transport=tcp",
            "digits",
            "--tasks",
            "3",
            "--master",
            CLUSTER);
    assertEquals(PROMISED, last(printed));
  }

  @Test
  void shouldTrainToThePromisedBitsOverSharedMemory() throws Exception {
    List<String> printed =
        run(
            " --conf spark.rankfold.transport=sharedmemory",
            "digits",
            "--tasks",
            "3",
            "--master",
            CLUSTER);
    assertEquals(PROMISED, last(printed));
    try (Stream<Path> left = Files.list(Path.of("/dev/shm"))) {
      assertEquals(
          List.of(),
          left.filter(file -> file.getFileName().toString().startsWith("rankfold-")).toList());
    }
  }

  private static String last(List<String> lines) {
    return lines.get(lines.size() - 1);
  }

  private static String hash(String line) {
    return line.substring(line.indexOf("sha256="));
  }

  private List<String> run(String submit, String... arguments)
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
        .put("RANKFOLD_SUBMIT_OPTS", "--conf spark.rankfold.timeout.slots=120s" + submit);
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
