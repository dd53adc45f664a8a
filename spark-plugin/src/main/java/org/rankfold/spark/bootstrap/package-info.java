// SPDX-License-Identifier: Apache-2.0
/**
 * How the tasks of a barrier stage learn of each other, in one round, and become a group. Driver
 * and executor halves of the plugin may not be imported here.
 */
package org.rankfold.spark.bootstrap;
