// SPDX-License-Identifier: Apache-2.0
/**
 * The driver's side: what is refused before a job starts, who of which group has come how far, and
 * the first cause of a failure. Executor halves of the plugin may not be imported here.
 */
package org.rankfold.spark.driver;
