// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;

/**
 * The settings of a group's devices, concluded once.
 *
 * @param isGpu whether every task has a GPU
 * @param transport {@code auto}, {@code host}, {@code nccl} or {@code peer}
 * @param allowsPlaintext whether NCCL may join hosts although Spark was told to encrypt
 * @param allowsSharedDevice whether NCCL may join tasks that share a GPU
 */
public record DeviceConfig(
    boolean isGpu, String transport, boolean allowsPlaintext, boolean allowsSharedDevice) {
  /**
   * Concludes the settings.
   *
   * @param source what the user set
   * @return the settings
   * @throws org.rankfold.errors.CollectiveException INVALID_CONFIG naming key, text and what is
   *     wrong
   */
  public static DeviceConfig of(ConfigSource source) {
    return new DeviceConfig(
        ConfigKeys.DEVICE.of(source).equals("gpu"),
        ConfigKeys.DEVICE_TRANSPORT.of(source),
        ConfigKeys.NCCL_PLAINTEXT.of(source).equals("allow"),
        ConfigKeys.NCCL_SHARED_DEVICE.of(source).equals("allow"));
  }
}
