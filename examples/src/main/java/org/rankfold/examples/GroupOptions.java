// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.util.HashMap;
import java.util.Map;
import org.rankfold.config.ConfigKey;
import org.rankfold.config.ConfigKeys;
import org.rankfold.errors.CollectiveException;
import org.rankfold.group.DeviceConfig;
import org.rankfold.group.GroupConfig;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** How the tasks of a job that measures or proves a group are joined, and where its memory lies. */
final class GroupOptions {
  @Option(names = "--path", description = "How pairs of tasks exchange: mapped, staged, mixed.")
  private String path;

  @Option(
      names = "--chunk-bytes",
      paramLabel = "N",
      description = "The stretch in which bytes move.")
  private String chunkBytes;

  @Option(names = "--transport", paramLabel = "NAME", description = "What moves bytes.")
  private String transport;

  @Option(names = "--device", description = "What tasks fold on: cpu, gpu (default: cpu).")
  private String device;

  @Option(
      names = "--device-transport",
      paramLabel = "NAME",
      description = "What moves device memory: auto, host, nccl, peer.")
  private String deviceTransport;

  @Option(
      names = "--memory",
      description =
          "Where addends lie: heap, direct, arena, device (default: the job's, device with --device"
              + " gpu).")
  private MemoryKind memory;

  GroupOptions() {}

  /** Where addends and results lie. */
  MemoryKind memory(MemoryKind otherwise) {
    if (memory != null) {
      return memory;
    }
    return "gpu".equals(device) ? MemoryKind.DEVICE : otherwise;
  }

  /**
   * The group's settings that the command line gives and those given here, checked before Spark
   * starts: what is wrong with the command line is usage, not a failure.
   */
  Map<String, String> settings(CommandSpec spec, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    put(settings, ConfigKeys.PATH, path);
    put(settings, ConfigKeys.CHUNK_BYTES, chunkBytes);
    put(settings, ConfigKeys.TRANSPORT, transport);
    put(settings, ConfigKeys.DEVICE, device);
    put(settings, ConfigKeys.DEVICE_TRANSPORT, deviceTransport);
    try {
      GroupConfig.of(settings::get);
      DeviceConfig.of(settings::get);
    } catch (CollectiveException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    return settings;
  }

  private static void put(Map<String, String> settings, ConfigKey<?> key, String value) {
    if (value != null) {
      settings.put(key.name(), value);
    }
  }
}
