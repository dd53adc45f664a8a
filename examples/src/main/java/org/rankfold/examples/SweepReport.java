// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The table of a sweep, in the columns of nccl-tests, and its files. */
final class SweepReport {
  private final SweepJob.Plan plan;
  private final String transport;
  private final String path;
  private final int world;
  private final int tasks;

  SweepReport(SweepJob.Plan plan, String transport, String path, int world, int tasks) {
    this.plan = plan;
    this.transport = transport;
    this.path = path;
    this.world = world;
    this.tasks = tasks;
  }

  /** Prints the table; algorithm bandwidth is bytes by time, bus bandwidth 2 (T-1)/T of that. */
  void print(List<SweepJob.Size> sizes, PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "# transport=%s path=%s world=%d tasks=%d memory=%s order=%s, times of the slowest task%n",
        transport,
        path,
        world,
        tasks,
        plan.kind().name().toLowerCase(Locale.ROOT),
        plan.order().label());
    out.printf(
        "# %10s %12s %6s %6s %10s %10s %8s %8s %7s%n",
        "size (B)", "count", "type", "redop", "p50 (us)", "p99 (us)", "algbw", "busbw", "#wrong");
    for (SweepJob.Size size : sizes) {
      out.printf(
          Locale.ROOT,
          "  %10d %12d %6s %6s %10.1f %10.1f %8.2f %8.2f %7d%n",
          size.bytes(),
          size.count(),
          plan.dtype().label(),
          plan.op().label(),
          size.p50Us(),
          size.p99Us(),
          algorithmGbs(size),
          busGbs(size),
          size.wrong());
    }
    out.printf("sweep: %d sizes, %d wrong%n", sizes.size(), wrong(sizes));
    out.flush();
  }

  static long wrong(List<SweepJob.Size> sizes) {
    return sizes.stream().mapToLong(SweepJob.Size::wrong).sum();
  }

  /** Writes one line a size, with a header. */
  void writeCsv(List<SweepJob.Size> sizes, Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(
        "size,count,type,redop,order,world,tasks,transport,path,memory,p50_us,p99_us,algbw,"
            + "busbw,wrong");
    for (SweepJob.Size size : sizes) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%d,%d,%s,%s,%s,%d,%d,%s,%s,%s,%.2f,%.2f,%.4f,%.4f,%d",
              size.bytes(),
              size.count(),
              plan.dtype().label(),
              plan.op().label(),
              plan.order().label(),
              world,
              tasks,
              transport,
              path,
              plan.kind().name().toLowerCase(Locale.ROOT),
              size.p50Us(),
              size.p99Us(),
              algorithmGbs(size),
              busGbs(size),
              size.wrong()));
    }
    Files.write(file, lines);
  }

  /** Writes an array of objects with the names of the CSV's header. */
  void writeJson(List<SweepJob.Size> sizes, Path file) throws IOException {
    List<String> objects = new ArrayList<>();
    for (SweepJob.Size size : sizes) {
      objects.add(
          String.format(
              Locale.ROOT,
              "  {\"size\": %d, \"count\": %d, \"type\": \"%s\", \"redop\": \"%s\", \"order\": \"%s\","
                  + " \"world\": %d, \"tasks\": %d, \"transport\": \"%s\", \"path\": \"%s\","
                  + " \"memory\": \"%s\", \"p50_us\": %.2f, \"p99_us\": %.2f, \"algbw\": %.4f,"
                  + " \"busbw\": %.4f, \"wrong\": %d}",
              size.bytes(),
              size.count(),
              plan.dtype().label(),
              plan.op().label(),
              plan.order().label(),
              world,
              tasks,
              transport,
              path,
              plan.kind().name().toLowerCase(Locale.ROOT),
              size.p50Us(),
              size.p99Us(),
              algorithmGbs(size),
              busGbs(size),
              size.wrong()));
    }
    Files.writeString(file, "[\n" + String.join(",\n", objects) + "\n]\n");
  }

  private static double algorithmGbs(SweepJob.Size size) {
    return size.p50Us() == 0 ? 0 : size.bytes() / size.p50Us() / 1e3;
  }

  private double busGbs(SweepJob.Size size) {
    return algorithmGbs(size) * 2 * (tasks - 1) / tasks;
  }
}
