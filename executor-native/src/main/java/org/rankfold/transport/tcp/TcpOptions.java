// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import org.rankfold.InternalApi;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;

/**
 * The settings of a group's connections.
 *
 * @param chunkBytes the largest stretch of elements a frame carries; equal on all tasks
 * @param peerTimeoutNs how long nothing may be heard from a peer
 * @param connectTimeoutNs how long a task tries to connect to all its peers
 * @param isSealed whether frames travel encrypted; equal on all tasks
 */
@InternalApi
public record TcpOptions(
    int chunkBytes, long peerTimeoutNs, long connectTimeoutNs, boolean isSealed) {
  /** What all slots of a task may take together, unless chunks are at their smallest. */
  public static final long SLOT_BYTES = 256L << 20;

  private static final int LEAST_CHUNK_BYTES = 16 << 10;

  /**
   * Checked options.
   *
   * @param chunkBytes at least 8, the largest element
   * @param peerTimeoutNs above 0
   * @param connectTimeoutNs above 0
   * @param isSealed whether frames travel encrypted
   */
  public TcpOptions {
    if (chunkBytes < Long.BYTES || peerTimeoutNs <= 0 || connectTimeoutNs <= 0) {
      throw new IllegalArgumentException(
          "chunkBytes="
              + chunkBytes
              + " peerTimeoutNs="
              + peerTimeoutNs
              + " connectTimeoutNs="
              + connectTimeoutNs);
    }
  }

  /**
   * Concludes the settings of a group.
   *
   * @param source what the user set
   * @param tasks tasks of the group: with many, chunks shrink so that slots stay within {@link
   *     #SLOT_BYTES}
   * @param isSealed whether frames travel encrypted
   * @return the options
   */
  public static TcpOptions of(ConfigSource source, int tasks, boolean isSealed) {
    int wanted = ConfigKeys.CHUNK_BYTES.of(source);
    long share = SLOT_BYTES / (4L * Math.max(1, tasks - 1));
    int most = (int) Math.max(LEAST_CHUNK_BYTES, Long.highestOneBit(share));
    return new TcpOptions(
        Math.max(Long.BYTES, Math.min(wanted, most)),
        ConfigKeys.PEER_TIMEOUT.of(source),
        ConfigKeys.CONNECT_TIMEOUT.of(source),
        isSealed);
  }
}
