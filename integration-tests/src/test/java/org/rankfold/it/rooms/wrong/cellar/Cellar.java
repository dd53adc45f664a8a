// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms.wrong.cellar;

/** A room that no line names. */
final class Cellar {
  private Cellar() {}
}
