// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The launcher over a tree that looks built: it prints its command and runs nothing. */
class LauncherTest {
  private static final String MAIN = "org.rankfold.examples.RankfoldCommand";
  private static final int CORES = Runtime.getRuntime().availableProcessors();

  @TempDir private Path root;
  private Path app;

  /** What the launcher printed and how it ended. */
  private record Outcome(int exitCode, List<String> lines, String err) {
    int indexOf(String line) {
      assertThat(lines).contains(line);
      return lines.indexOf(line);
    }

    String after(String line) {
      return lines.get(indexOf(line) + 1);
    }

    /** What the job itself is given. */
    List<String> after(Path last) {
      return lines.subList(indexOf(last.toString()) + 1, lines.size());
    }
  }

  @BeforeEach
  void shouldFindBashAndABuiltTree() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "the launcher is a bash script");
    Path launcher = Path.of(System.getProperty("rankfold.root"), "bin", "rankfold");
    Files.createDirectories(root.resolve("bin"));
    Files.copy(launcher, root.resolve("bin/rankfold"));
    write("pom.xml", "");
    for (String module : List.of("kernels", "executor-native", "spark-plugin", "examples")) {
      write(module + "/pom.xml", "");
    }
    write("spark.jar", "");
    write("examples/src/main/resources/log4j2.properties", "");
    write("examples/target/classpath.txt", root.resolve("spark.jar") + "\n");
    write("examples/target/launcher/jvm.flags", "-Dflag=1\n");
    app = write("examples/target/rankfold-app.jar", "");
  }

  private Path write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private Outcome launch(String... args) throws IOException, InterruptedException {
    return launch(Map.of(), args);
  }

  private Outcome launch(Map<String, String> environment, String... args)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("/bin/bash", "bin/rankfold"));
    command.addAll(List.of(args));
    Path err = root.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(root.toFile()).redirectError(err.toFile());
    builder
        .environment()
        .keySet()
        .removeIf(k -> k.startsWith("SPARK_") || k.startsWith("RANKFOLD_"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("RANKFOLD_DRY_RUN", "1");
    builder.environment().putAll(environment);
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Outcome(process.exitValue(), out.lines().toList(), Files.readString(err));
  }

  @Test
  void shouldRunInOneJvmOnThisMachine() throws Exception {
    Outcome outcome = launch("digest", "--n", "5");
    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.lines().get(0)).endsWith("/bin/java");
    assertThat(outcome.lines())
        .contains(
            "-Xmx2g",
            "--add-modules=jdk.incubator.vector",
            "-Dspark.master=local[" + CORES + "]",
            "-Dspark.plugins=org.rankfold.spark.RankfoldPlugin")
        .anyMatch(line -> line.startsWith("@") && line.endsWith("jvm.flags"));
    assertThat(outcome.after("-cp")).contains(app.toString(), "spark.jar");
    assertThat(outcome.lines()).endsWith(MAIN, "digest", "--n", "5");
  }

  @ParameterizedTest
  @CsvSource({"--tasks 64,64", "--tasks=65,65", "--tasks 1,0", "--tasks 007,7"})
  void shouldHaveAThreadForEachTaskAndEachCore(String option, int tasks) throws Exception {
    List<String> args = new ArrayList<>(List.of("digits"));
    args.addAll(List.of(option.split(" ", -1)));
    Outcome outcome = launch(args.toArray(String[]::new));
    assertThat(outcome.lines())
        .contains("-Dspark.master=local[" + Math.max(tasks, CORES) + "]")
        .endsWith(args.toArray(String[]::new));
  }

  @Test
  void shouldTakeTheMasterThatIsGiven() throws Exception {
    assertThat(launch("digits", "--master", "local[3]", "--tasks", "8").lines())
        .contains("-Dspark.master=local[3]")
        .doesNotContain("--master")
        .endsWith(MAIN, "digits", "--tasks", "8");
  }

  @ParameterizedTest
  @CsvSource({"--master spark://h:7077", "--master=spark://h:7077"})
  void shouldSubmitToAClusterThroughSparksClass(String option) throws Exception {
    List<String> args = new ArrayList<>(List.of("digest"));
    args.addAll(List.of(option.split(" ", -1)));
    args.addAll(List.of("--tasks", "2"));
    Outcome outcome = launch(args.toArray(String[]::new));
    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.lines().get(0)).endsWith("/bin/java");
    assertThat(outcome.after("org.apache.spark.deploy.SparkSubmit")).isEqualTo("--master");
    assertThat(outcome.after("--master")).isEqualTo("spark://h:7077");
    assertThat(outcome.after("--class")).isEqualTo(MAIN);
    assertThat(outcome.lines())
        .contains(
            "spark.plugins=org.rankfold.spark.RankfoldPlugin",
            "spark.scheduler.barrier.maxConcurrentTasksCheck.interval=1s")
        .noneMatch(line -> line.startsWith("-Dspark.master"));
    assertThat(outcome.after(app)).containsExactly("digest", "--tasks", "2");
    assertThat(root.resolve("examples/target/spark-home/jars/spark.jar")).exists();
  }

  @Test
  void shouldSubmitToAClusterThroughSparkHome() throws Exception {
    Path submit = write("spark/bin/spark-submit", "");
    assertThat(submit.toFile().setExecutable(true)).isTrue();
    Outcome outcome =
        launch(
            Map.of(
                "SPARK_HOME",
                root.resolve("spark").toString(),
                "RANKFOLD_SUBMIT_OPTS",
                "--executor-cores 4",
                "RANKFOLD_DRIVER_MEMORY",
                "3g"),
            "digest",
            "--master",
            "yarn");
    assertThat(outcome.lines().get(0)).isEqualTo(submit.toString());
    assertThat(outcome.after("--master")).isEqualTo("yarn");
    assertThat(outcome.after("--driver-memory")).isEqualTo("3g");
    assertThat(outcome.after("--executor-cores")).isEqualTo("4");
    assertThat(outcome.after(app)).containsExactly("digest");
  }

  @Test
  void shouldLeaveTheVectorApiOutAndTakeMoreOptions() throws Exception {
    Outcome outcome =
        launch(Map.of("RANKFOLD_VECTOR", "off", "RANKFOLD_JAVA_OPTS", "-Da=1 -Db=2"), "digits");
    assertThat(outcome.lines())
        .contains("-Da=1", "-Db=2")
        .doesNotContain("--add-modules=jdk.incubator.vector");
  }

  @Test
  void shouldPassBlanksAndStarsOnAsTheyAre() throws Exception {
    assertThat(launch("digest", "--golden", "a b/*.tsv").lines())
        .endsWith(MAIN, "digest", "--golden", "a b/*.tsv");
  }

  @Test
  void shouldExitWith2WhenTheMasterIsMissing() throws Exception {
    Outcome outcome = launch("digest", "--master");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.lines()).isEmpty();
    assertThat(outcome.err()).contains("--master needs a URL");
  }

  @Test
  void shouldExitWith2WhenThereIsNoJava() throws Exception {
    Outcome outcome = launch(Map.of("JAVA_HOME", "/no/such/jdk"), "digest");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).contains("JAVA_HOME=/no/such/jdk");
  }

  /** What is older than its sources is built first: here by a mvn that only says that it came. */
  @Test
  void shouldBuildWhenASourceIsNewer() throws Exception {
    Path maven = write("maven/mvn", "#!/bin/sh\necho built > \"$PWD/built\"\n");
    assertThat(maven.toFile().setExecutable(true)).isTrue();
    Path source = write("kernels/src/main/java/A.java", "");
    assertThat(source.toFile().setLastModified(System.currentTimeMillis() + 60_000)).isTrue();
    Outcome outcome =
        launch(Map.of("PATH", maven.getParent() + ":" + System.getenv("PATH")), "digest");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.err()).contains("building");
    assertThat(root.resolve("built")).exists();
  }
}
