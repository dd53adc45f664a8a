// SPDX-License-Identifier: Apache-2.0
/**
 * Counters as an interface; whoever embeds the engine decides where they go. Nothing else of the
 * executor may be imported here.
 */
package org.rankfold.metrics;
