// SPDX-License-Identifier: Apache-2.0
/**
 * Training: rows to logical ranks, the loop of steps, optimizers in a written order of operations.
 * Transports and the engine may never be imported here: training knows communicators only.
 */
package org.rankfold.spark.train;
