// SPDX-License-Identifier: Apache-2.0
/**
 * Collectives of ranks whose devices reach one another's memory: kernels that meet at device-side
 * barriers, and the same movement by events. Knows addresses, words and one launch a rank; nothing
 * of processes, sockets, transports or Spark may be imported here. docs/spec/device-barrier.md is
 * the protocol.
 */
package org.rankfold.peer.cuda;
