// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;
import java.util.List;

/**
 * What a task brings home: all of it on the task of logical rank 0, digest and counts on the others
 * (their parameters are an empty array).
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier between a task and the driver
record TrainingOutcome(
    float[] parameters, String sha256, long rows, long steps, List<EpochReport> epochs)
    implements Serializable {}
