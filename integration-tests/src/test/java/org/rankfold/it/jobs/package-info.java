// SPDX-License-Identifier: Apache-2.0
/**
 * The examples as a user runs them, on real Spark in local mode. Nothing of the engine's insides
 * may be imported here.
 */
package org.rankfold.it.jobs;
