// SPDX-License-Identifier: Apache-2.0
/**
 * What a transport must do: publish call headers, lend or carry bytes between tasks, tell of
 * departures. Transports move bytes and never add; folds, engines and Spark may not be imported
 * here.
 */
package org.rankfold.transport;
