// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.io.Serializable;

/**
 * Which submission of which run a group belongs to.
 *
 * @param id another for every submission; empty in a barrier stage of the user's own
 * @param number from 1
 */
record RunAttempt(String id, int number) implements Serializable {
  /** That of a barrier stage of the user's own. */
  static final RunAttempt NONE = new RunAttempt("", 1);
}
