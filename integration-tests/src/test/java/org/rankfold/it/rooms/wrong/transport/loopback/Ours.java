// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms.wrong.transport.loopback;

import org.rankfold.it.rooms.wrong.transport.tcp.Theirs;

/** A transport that knows another. */
final class Ours {
  private final Theirs theirs = new Theirs();

  @Override
  public String toString() {
    return "ours and " + theirs;
  }
}
