// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

/** When a task that hosts several logical ranks sends sums of theirs instead of their addends. */
public enum PartialsRule {
  /** When that moves fewer bytes. */
  AUTO,
  /** Wherever it can be done. */
  ALWAYS,
  /** Never. */
  NEVER
}
