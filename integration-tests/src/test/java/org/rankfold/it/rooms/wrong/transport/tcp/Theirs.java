// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms.wrong.transport.tcp;

import org.rankfold.it.rooms.wrong.fold.Adds;

/** A transport that adds. */
public final class Theirs {
  private final Adds adds = new Adds();

  @Override
  public String toString() {
    return "adds with " + adds.hashCode();
  }
}
