// SPDX-License-Identifier: Apache-2.0
/**
 * Tasks in several processes over TCP: one listener a process, one authenticated connection a pair
 * of tasks, all pairs staged. No other transport, no fold, no engine and no Spark may be imported
 * here.
 */
package org.rankfold.transport.tcp;
