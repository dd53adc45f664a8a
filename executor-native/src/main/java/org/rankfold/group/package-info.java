// SPDX-License-Identifier: Apache-2.0
/**
 * How tasks become a group without Spark: threads of one JVM for tests, and what a bootstrap calls.
 * Spark may not be imported here.
 */
package org.rankfold.group;
