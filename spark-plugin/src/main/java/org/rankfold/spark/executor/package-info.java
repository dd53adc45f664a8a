// SPDX-License-Identifier: Apache-2.0
/**
 * The executor's side: one process's singletons, the guard over each task, what ends a process that
 * is no longer safe. The user's entry may not be imported here.
 */
package org.rankfold.spark.executor;
