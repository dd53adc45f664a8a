// SPDX-License-Identifier: Apache-2.0
/**
 * Joins contract, transport and fold: numbers calls, checks headers, plans shards and chunks, waits
 * with deadlines. Spark, sockets and the public API above may not be imported here.
 */
package org.rankfold.engine;
