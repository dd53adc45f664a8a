// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.transport.CallHeader;

/**
 * How far a task has come, for whoever watches.
 *
 * @param lastFinished the last call that ended with the group intact, 0 before the first
 * @param current the call under way, or null between calls
 * @param sinceNs when {@code current} began or the last call ended, on the {@link
 *     System#nanoTime()} line
 */
public record EngineProgress(long lastFinished, CallHeader current, long sinceNs) {}
