// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;
import java.util.Objects;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * What all tasks of a training agree on.
 *
 * @param globalBatch rows a step, of all logical ranks together
 * @param device what gradients are computed on; no bit depends on it
 */
record TrainingPlan<R>(
    GradientModel<R> model,
    Optimizer optimizer,
    int globalBatch,
    int epochs,
    long seed,
    ComputeDevice device)
    implements Serializable {
  TrainingPlan {
    Objects.requireNonNull(model, "model");
    if (optimizer == null) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "optimizer is not set: Trainer.optimizer(new Sgd(...))");
    }
    Objects.requireNonNull(device, "device");
    Checks.atLeast("globalBatch", globalBatch, 1);
    Checks.atLeast("epochs", epochs, 0);
    Checks.atLeast("parameterCount", model.parameterCount(), 1);
  }
}
