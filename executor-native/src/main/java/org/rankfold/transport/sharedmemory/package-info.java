// SPDX-License-Identifier: Apache-2.0
/**
 * Tasks in several processes of one host over segments in memory that all of them map: a board of
 * control words a task, arenas that peers read and write in place, slots for other memory. No other
 * transport, no fold, no engine and no Spark may be imported here.
 */
package org.rankfold.transport.sharedmemory;
