// SPDX-License-Identifier: Apache-2.0
/**
 * A standalone Spark cluster of real processes, as a user has one: nothing of Rankfold lies in its
 * SPARK_HOME, jars travel with the application. Nothing of the engine's insides may be imported
 * here.
 */
package org.rankfold.it.standalone;
