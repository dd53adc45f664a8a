// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

/**
 * Where bytes lie among a task's segments.
 *
 * @param segment the segment's number, from 0
 * @param offset bytes from its start
 */
record Place(int segment, int offset) {}
