// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

/** How tasks that reach one another's device memory wait for one another, from least to most. */
public enum PeerArm {
  /** Not at all: some task cannot reach another's memory. */
  NONE,
  /** Streams wait for events of their peers; devices may be shared. */
  EVENTS,
  /** Kernels wait on the device, one a task, each task on a device of its own. */
  SPIN
}
