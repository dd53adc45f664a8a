// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

/**
 * Where one rank's barrier words and staging lie, as the process that holds this sees them.
 *
 * @param deviceUuid the rank's device, {@code GPU-...}, the same in every process
 * @param wordsAddress its {@link PeerMemory#WORDS_BYTES} bytes of words
 * @param stagingAddress its two staging sets, one behind the other
 * @param setBytes the size of one set, the same on every rank
 */
public record PeerSeat(String deviceUuid, long wordsAddress, long stagingAddress, long setBytes) {}
