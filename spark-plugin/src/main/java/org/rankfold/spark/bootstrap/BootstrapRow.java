// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * All a task tells its peers, in one message. Task 0's nonce and secret are the group's.
 *
 * @param task the partition's number
 * @param world logical ranks this task was asked for
 * @param tasks tasks this task sees
 * @param executor Spark's executor id
 * @param host as Spark names it
 * @param process which process
 * @param address where the process listens for peers, as {@code IP port}, or empty when it does not
 * @param devices addresses of the GPUs Spark assigned to the task
 * @param gpu the GPUs it may use
 * @param versions what it runs on
 * @param memory what the process may still take
 * @param nonce random, new for every group
 * @param secret random, for transports that authenticate; as safe as Spark's RPC
 * @param failure why the task is not ready, or null
 */
record BootstrapRow(
    int task,
    int world,
    int tasks,
    String executor,
    String host,
    ProcessIdentity process,
    String address,
    List<String> devices,
    GpuRow gpu,
    Versions versions,
    MemoryLimits memory,
    String nonce,
    String secret,
    RowFailure failure) {
  private static final String FORMAT = "rankfold-bootstrap/1";

  /**
   * A failure as it travels.
   *
   * @param code why
   * @param text the message
   */
  record RowFailure(ErrorCode code, String text) {}

  String encode() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("format", FORMAT);
    fields.put("task", task);
    fields.put("world", world);
    fields.put("tasks", tasks);
    fields.put("executor", executor);
    fields.put("host", host);
    fields.put("bootId", process.bootId());
    fields.put("pidNamespace", process.pidNamespace());
    fields.put("pid", process.pid());
    fields.put("startNonce", process.startNonce());
    fields.put("address", address);
    fields.put("devices", String.join(",", devices));
    fields.put("gpu", gpu.encode());
    fields.put("rankfold", versions.rankfold());
    fields.put("contract", versions.contract());
    fields.put("java", versions.java());
    fields.put("spark", versions.spark());
    fields.put("directFreeBytes", memory.directFreeBytes());
    fields.put("heapMaxBytes", memory.heapMaxBytes());
    fields.put("containerBytes", memory.containerBytes());
    fields.put("nonce", nonce);
    fields.put("secret", secret);
    if (failure != null) {
      fields.put("failureCode", failure.code().number());
      fields.put("failureText", failure.text());
    }
    StringBuilder text = new StringBuilder();
    fields.forEach(
        (key, value) -> text.append(key).append('=').append(escaped(value)).append('\n'));
    return text.toString();
  }

  static BootstrapRow decode(String text) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (String line : text.lines().toList()) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        fields.put(line.substring(0, equals), unescaped(line.substring(equals + 1)));
      }
    }
    if (!FORMAT.equals(fields.get("format"))) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL, "bootstrap format=" + fields.get("format") + " != " + FORMAT);
    }
    try {
      String devices = fields.get("devices");
      String failureCode = fields.get("failureCode");
      return new BootstrapRow(
          Integer.parseInt(fields.get("task")),
          Integer.parseInt(fields.get("world")),
          Integer.parseInt(fields.get("tasks")),
          fields.get("executor"),
          fields.get("host"),
          new ProcessIdentity(
              fields.get("bootId"),
              fields.get("pidNamespace"),
              Long.parseLong(fields.get("pid")),
              fields.get("startNonce")),
          Objects.requireNonNull(fields.get("address")),
          devices.isEmpty() ? List.of() : List.of(devices.split(",", -1)),
          GpuRow.decode(fields.get("gpu")),
          new Versions(
              fields.get("rankfold"),
              Integer.parseInt(fields.get("contract")),
              fields.get("java"),
              fields.get("spark")),
          new MemoryLimits(
              Long.parseLong(fields.get("directFreeBytes")),
              Long.parseLong(fields.get("heapMaxBytes")),
              Long.parseLong(fields.get("containerBytes"))),
          fields.get("nonce"),
          fields.get("secret"),
          failureCode == null
              ? null
              : new RowFailure(
                  ErrorCode.ofNumber(Integer.parseInt(failureCode)), fields.get("failureText")));
    } catch (NumberFormatException | NullPointerException | IndexOutOfBoundsException e) {
      throw new CollectiveException(ErrorCode.PROTOCOL, "bootstrap row is malformed: " + text, e);
    }
  }

  /** For messages; never with the secret in it. */
  String describe() {
    return "task "
        + task
        + " (executor "
        + executor
        + ", host "
        + host
        + ", pid "
        + process.pid()
        + (devices.isEmpty() ? "" : ", GPU " + String.join(",", devices))
        + ")";
  }

  private static String escaped(Object value) {
    return String.valueOf(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
  }

  private static String unescaped(String text) {
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\' && i + 1 < text.length()) {
        i++;
        char escaped = text.charAt(i);
        plain.append(escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped);
      } else {
        plain.append(c);
      }
    }
    return plain.toString();
  }
}
