// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import org.rankfold.InternalApi;

/**
 * What the tasks of a group must agree on before they connect.
 *
 * @param world logical ranks
 * @param tasks tasks
 * @param contractVersion the version of the reduce contract
 * @param chunkBytes the largest payload of DATA
 * @param isSealed whether frames travel in sealed records
 */
@InternalApi
public record GroupTerms(
    int world, int tasks, int contractVersion, int chunkBytes, boolean isSealed) {}
