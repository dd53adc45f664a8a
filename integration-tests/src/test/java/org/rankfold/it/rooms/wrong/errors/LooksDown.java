// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms.wrong.errors;

import org.rankfold.it.rooms.wrong.fold.Adds;

/** The first room imports one below it. */
public final class LooksDown {
  private final Adds below = new Adds();

  /** Uses the field. */
  @Override
  public String toString() {
    return "looks down on " + below.hashCode();
  }
}
