// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

/** What joins the tasks of a group: one way for all its pairs. */
enum Way {
  /** All tasks live in one JVM. */
  LOOPBACK,
  /** All tasks live on one host, in one container, as one user. */
  SHARED_MEMORY,
  /** Anything else. */
  TCP
}
