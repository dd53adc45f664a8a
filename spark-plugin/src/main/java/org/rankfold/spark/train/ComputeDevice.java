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
   * The CUDA device that Spark assigned to the task, or where it assigned none, the host's devices
   * by turns. Gradients stay in its memory and are folded from there.
   */
  GPU
}
