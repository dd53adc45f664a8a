// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.transport.Transport;

/** Opens the staged half of a call. */
@FunctionalInterface
interface ExchangeFactory {
  /**
   * Opens it.
   *
   * @param call the call's number
   * @param placement where results belong
   */
  StagedExchange open(long call, Transport.Landing placement);
}
