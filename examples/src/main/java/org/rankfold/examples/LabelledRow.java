// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.Serializable;

/**
 * One training row: numbers to learn from and the class they belong to.
 *
 * <p>The array is borrowed, not copied: whoever makes a row gives it away and nobody writes to it
 * afterwards. Rows are compared by {@link #id}; {@code equals} of a record with an array compares
 * the array's identity.
 *
 * @param id the row's position in its data set, from 0: the key that decides which logical rank
 *     owns it
 * @param features the inputs, scaled to 0 .. 1
 * @param label the class, from 0
 */
@SuppressWarnings(
    "ArrayRecordComponent") // a row is a carrier; a defensive copy of each would double the data
public record LabelledRow(long id, float[] features, int label) implements Serializable {}
