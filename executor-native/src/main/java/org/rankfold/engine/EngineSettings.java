// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

/**
 * What an engine needs to know beside its group.
 *
 * @param chunkBytes the stretch in which bytes move and between which aborts are noticed; at least
 *     1; an element is never split
 * @param collectiveTimeoutNs how long any single wait of a call may last
 * @param exitTimeoutNs how long a failed call waits for peers to leave this task's memory
 * @param partials when a task of several logical ranks sends sums of theirs
 */
public record EngineSettings(
    int chunkBytes, long collectiveTimeoutNs, long exitTimeoutNs, PartialsRule partials) {
  /**
   * Checked settings.
   *
   * @param chunkBytes at least 1
   * @param collectiveTimeoutNs above 0
   * @param exitTimeoutNs above 0
   * @param partials the rule
   */
  public EngineSettings {
    if (chunkBytes < 1) {
      throw new IllegalArgumentException("chunkBytes=" + chunkBytes + " < 1");
    }
    if (collectiveTimeoutNs <= 0 || exitTimeoutNs <= 0) {
      throw new IllegalArgumentException(
          "collectiveTimeoutNs=" + collectiveTimeoutNs + " exitTimeoutNs=" + exitTimeoutNs);
    }
  }

  /**
   * Settings with {@link PartialsRule#AUTO}.
   *
   * @param chunkBytes at least 1
   * @param collectiveTimeoutNs above 0
   * @param exitTimeoutNs above 0
   */
  public EngineSettings(int chunkBytes, long collectiveTimeoutNs, long exitTimeoutNs) {
    this(chunkBytes, collectiveTimeoutNs, exitTimeoutNs, PartialsRule.AUTO);
  }
}
