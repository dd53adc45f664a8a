// SPDX-License-Identifier: Apache-2.0
package org.rankfold.errors;

/** What the receiver of a {@link CollectiveException} should do about it. */
public enum ErrorCategory {
  /** The caller asked for something undefined; nothing happened and the group is still usable. */
  USAGE,
  /** The group is gone; its communicator refuses further calls and the driver may start anew. */
  GROUP_LOST,
  /**
   * The state of the process is unknown, as when a peer may still write into this rank's memory; an
   * executor ends, a local-mode process refuses further groups.
   */
  PROCESS_FATAL
}
