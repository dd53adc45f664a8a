// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/** Where a task's addends and result lie. */
public enum MemoryKind {
  /** Arrays. */
  HEAP,
  /** Direct buffers. */
  DIRECT,
  /** Arenas of the communicator, which a transport may map. */
  ARENA,
  /** Memory of the task's GPU. */
  DEVICE
}
