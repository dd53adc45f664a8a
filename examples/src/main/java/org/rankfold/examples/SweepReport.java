// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

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
    for (SweepJob.Size size : sizes) {
      Map<String, String> fields = fields(size);
      if (lines.isEmpty()) {
        lines.add(String.join(",", fields.keySet()));
      }
      lines.add(String.join(",", fields.values()));
    }
    Files.write(file, lines);
  }

  /** Writes an array of objects with the names of the CSV's header. */
  void writeJson(List<SweepJob.Size> sizes, Path file) throws IOException {
    List<String> objects = new ArrayList<>();
    for (SweepJob.Size size : sizes) {
      List<String> members = new ArrayList<>();
      fields(size)
          .forEach(
              (name, value) ->
                  members.add('"' + name + "\": " + (isNumber(value) ? value : '"' + value + '"')));
      objects.add("  {" + String.join(", ", members) + "}");
    }
    Files.writeString(file, "[\n" + String.join(",\n", objects) + "\n]\n");
  }

  /** What a file says of a size: names, and values that are numbers or plain words. */
  private Map<String, String> fields(SweepJob.Size size) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("size", Long.toString(size.bytes()));
    fields.put("count", Long.toString(size.count()));
    fields.put("type", plan.dtype().label());
    fields.put("redop", plan.op().label());
    fields.put("order", plan.order().label());
    fields.put("world", Integer.toString(world));
    fields.put("tasks", Integer.toString(tasks));
    fields.put("transport", transport);
    fields.put("path", path);
    fields.put("memory", plan.kind().name().toLowerCase(Locale.ROOT));
    fields.put("p50_us", String.format(Locale.ROOT, "%.2f", size.p50Us()));
    fields.put("p99_us", String.format(Locale.ROOT, "%.2f", size.p99Us()));
    fields.put("algbw", String.format(Locale.ROOT, "%.4f", algorithmGbs(size)));
    fields.put("busbw", String.format(Locale.ROOT, "%.4f", busGbs(size)));
    fields.put("wrong", Long.toString(size.wrong()));
    return fields;
  }

  private static boolean isNumber(String value) {
    return Character.isDigit(value.charAt(0));
  }

  private static double algorithmGbs(SweepJob.Size size) {
    return size.p50Us() == 0 ? 0 : size.bytes() / size.p50Us() / 1e3;
  }

  private double busGbs(SweepJob.Size size) {
    return algorithmGbs(size) * 2 * (tasks - 1) / tasks;
  }
}
