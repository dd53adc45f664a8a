// SPDX-License-Identifier: Apache-2.0
/**
 * The user's entry: the plugin, a run on every task of a barrier stage, and what a task sees of its
 * group. The trainer may not be imported here; nothing below this package may import it.
 */
package org.rankfold.spark;
