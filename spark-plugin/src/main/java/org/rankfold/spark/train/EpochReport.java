// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;

/**
 * What an epoch came to. Sums are folded over logical ranks in rank order, so they have the same
 * bits on any number of tasks.
 *
 * @param epoch from 1
 * @param training the training rows, each scored when its step began, before the step's update
 * @param heldOut the held-out rows after the epoch; {@link Score#NONE} when there are none
 */
public record EpochReport(int epoch, Score training, Score heldOut) implements Serializable {}
