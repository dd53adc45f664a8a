// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

/** How two tasks exchange bytes. */
public enum PairPath {
  /** Each reads and writes the other's memory in place. */
  MAPPED,
  /** Bytes travel through slots. */
  STAGED
}
