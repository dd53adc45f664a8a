// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;

/**
 * A row on its way to its logical rank.
 *
 * @param rank where it belongs
 * @param heldOut whether it is for evaluation, not for training
 * @param key what it is known by
 * @param row the row; serializable with the application's serializer
 */
record KeyedRow<R>(int rank, boolean heldOut, RowKey key, R row) implements Serializable {}
