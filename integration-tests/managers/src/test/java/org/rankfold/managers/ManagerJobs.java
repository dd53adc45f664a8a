// SPDX-License-Identifier: Apache-2.0
package org.rankfold.managers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.examples.DigestJob;
import org.rankfold.examples.MemoryKind;
import org.rankfold.spark.RankContext;
import org.rankfold.spark.Rankfold;
import org.rankfold.spark.RankfoldPlugin;
import org.rankfold.view.View;

/** What a user's application does on whichever cluster: its settings, its jars, its bodies. */
final class ManagerJobs {
  /** Tasks of every group. */
  static final int TASKS = 3;

  private static final int WORLD = 5;
  private static final int ELEMENTS = 10_000;

  private ManagerJobs() {}

  private static Path root() {
    return Path.of(System.getProperty("rankfold.root"));
  }

  /** What a task found: its process, its executor, its attempt, and the digests of all rows. */
  record Found(long pid, String executor, int attempt, List<String> digests)
      implements java.io.Serializable {}

  /** Settings of an application whose executors get Rankfold with its jars. */
  static SparkConf settings(Path folder, String master) throws IOException {
    return new SparkConf()
        .setMaster(master)
        .setAppName("managers")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1")
        .set("spark.executor.memory", "512m")
        .set(
            "spark.jars",
            root().resolve("examples/target/rankfold-app.jar")
                + ","
                + jar(folder.resolve("managers-jobs.jar")))
        .set("spark.plugins", RankfoldPlugin.class.getName())
        .set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
        .set("spark.rankfold.timeout.slots", "120s")
        .set("spark.rankfold.retry.wait", "100ms");
  }

  /** The jars of this JVM that are not Rankfold's: what an image of Spark has. */
  static List<String> sparkJars() {
    return Stream.of(System.getProperty("java.class.path").split(":", -1))
        .filter(entry -> entry.endsWith(".jar") && !Path.of(entry).startsWith(root()))
        .toList();
  }

  /** The rows that every job reduces. */
  static List<GoldenRow> rows() {
    return GoldenTable.builtIn().stream().filter(row -> row.contract().world() == WORLD).toList();
  }

  /** The right digests, in the order of {@link #rows}. */
  static List<String> digests() {
    return rows().stream().map(GoldenRow::sha256).toList();
  }

  /**
   * Reduces all rows on every task.
   *
   * @param spark the application
   * @param marks where each task leaves its attempt's mark once it is in its group
   * @param endless how many attempts go on reducing until they lose a peer
   * @return what each task found
   */
  static List<Found> golden(JavaSparkContext spark, Path marks, int endless) {
    String folder = marks.toString();
    return Rankfold.on(spark)
        .world(WORLD)
        .tasks(TASKS)
        .name("golden")
        .run(context -> body(context, folder, endless));
  }

  private static Found body(RankContext context, String folder, int endless) throws IOException {
    List<View> addends = new ArrayList<>();
    for (int rank = 0; rank < context.rankCount(); rank++) {
      addends.add(View.of(new float[ELEMENTS]));
    }
    View sum = View.of(new float[ELEMENTS]);
    for (int call = 0; context.attempt() <= endless; call++) {
      context.communicator().allReduce(addends, sum);
      if (call == 20) {
        leaveMark(Path.of(folder), context);
      }
    }
    List<String> digests = new ArrayList<>();
    for (GoldenRow row : rows()) {
      digests.add(DigestJob.digest(context.communicator(), row, MemoryKind.HEAP));
    }
    return new Found(
        ProcessHandle.current().pid(),
        org.apache.spark.SparkEnv.get().executorId(),
        context.attempt(),
        digests);
  }

  /** Whole at once: whoever sees it may read it. */
  private static void leaveMark(Path folder, RankContext context) throws IOException {
    Path mark = mark(folder, context.attempt(), context.task());
    Path part = mark.resolveSibling(mark.getFileName() + ".part");
    Files.writeString(part, Long.toString(ProcessHandle.current().pid()));
    Files.move(part, mark, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Where a task leaves its mark; it says the task's process. */
  static Path mark(Path folder, int attempt, int task) {
    return folder.resolve("in-group-" + attempt + "-" + task);
  }

  /** Waits until every task of an attempt has left its mark. */
  static void awaitMarks(Path folder, int attempt) throws Exception {
    await(
        "marks of attempt " + attempt,
        () -> {
          for (int task = 0; task < TASKS; task++) {
            if (!Files.exists(mark(folder, attempt, task))) {
              return false;
            }
          }
          return true;
        });
  }

  /** Waits two minutes at most. */
  static void await(String what, BooleanSupplier condition) throws Exception {
    long startNs = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(120)) {
        throw new IOException("not within two minutes: " + what);
      }
      Thread.sleep(20);
    }
  }

  /** The classes of this package, as a user would package his own. */
  private static Path jar(Path file) throws IOException {
    String name = ManagerJobs.class.getPackageName().replace('.', '/');
    Path classes = root().resolve("integration-tests/managers/target/test-classes");
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out);
        Stream<Path> members = Files.list(classes.resolve(name))) {
      for (Path member : (Iterable<Path>) members::iterator) {
        jar.putNextEntry(new JarEntry(name + "/" + member.getFileName()));
        Files.copy(member, jar);
        jar.closeEntry();
      }
    }
    return file;
  }

  /** Runs the golden rows where no run is submitted anew and expects them to be lost. */
  static CompletableFuture<CollectiveException> losing(JavaSparkContext spark, Path folder) {
    return CompletableFuture.supplyAsync(
        () -> assertThrows(CollectiveException.class, () -> golden(spark, folder, 1)));
  }

  /** Survivors know of a kill within two seconds, their slots are free within three more. */
  static void assertLost(
      CompletableFuture<CollectiveException> run, long killedNs, String whatWasKilled)
      throws Exception {
    CollectiveException lost = run.get();
    long tookMs = (System.nanoTime() - killedNs) / 1_000_000;
    System.out.println(
        whatWasKilled + " killed, the exception in the driver after " + tookMs + " ms");
    assertEquals(ErrorCode.PEER_FAILED, lost.code());
    assertThat(lost).hasMessageContaining("executor ");
    assertThat(tookMs).isLessThan(5000);
  }
}
