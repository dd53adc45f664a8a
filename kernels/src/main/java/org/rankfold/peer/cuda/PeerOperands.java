// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

/**
 * Addresses of a call's memory, as the launching process sees them. An output may be the same
 * stretch as one of its own rank's addends; any other overlap has no defined result. Borrowed until
 * the launch is done on every rank: not before all of them have left the end barrier.
 *
 * @param addends one for each logical rank, ascending. A one-shot call and an all-gather read those
 *     of the launched rank only; a broadcast the root's
 * @param outs one for each rank. A one-shot call and a reduce-scatter write the launched rank's
 *     only
 */
@SuppressWarnings("ArrayRecordComponent") // addresses on their way to a launch, compared by nobody
public record PeerOperands(long[] addends, long[] outs) {}
