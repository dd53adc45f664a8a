// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

/**
 * What a training's gradients are computed on. For a model that keeps its word no bit depends on
 * it.
 */
public enum ComputeDevice {
  /** The task's thread. */
  CPU,

  /**
   * The CUDA device that the group gives the task. Gradients stay in its memory, are folded from
   * there, and move between tasks as {@code spark.rankfold.device.transport} says.
   */
  GPU
}
