// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

/**
 * How long NCCL may take.
 *
 * @param callNs for one call to be enqueued, which the first time includes connecting to peers, and
 *     for what was enqueued to be done before an orderly end
 * @param exitNs for a communicator to let go of threads, sockets and memory once it ends
 */
public record NcclTimeouts(long callNs, long exitNs) {}
