// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import org.rankfold.InternalApi;

/**
 * What a task's connections have carried so far.
 *
 * @param sentBytes bytes handed to the system, headers included
 * @param receivedBytes bytes taken from the system, headers included
 * @param sentElementBytes payloads of DATA handed to {@code offer}
 * @param copiedOutBytes of those, how many were copied on their way to the system
 * @param receivedElementBytes payloads of DATA that have arrived
 * @param copiedInBytes of those, how many came together with a header and were copied to their slot
 *     or place; the others were written there by the system
 * @param landedBytes of those that arrived, how many went to their place without a slot
 */
@InternalApi
public record TcpCounts(
    long sentBytes,
    long receivedBytes,
    long sentElementBytes,
    long copiedOutBytes,
    long receivedElementBytes,
    long copiedInBytes,
    long landedBytes) {}
