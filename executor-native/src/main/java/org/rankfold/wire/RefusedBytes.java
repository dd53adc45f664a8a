// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.util.Locale;
import org.rankfold.InternalApi;

/**
 * Bytes that no correct peer sends. Whoever reads a connection catches it, closes that connection
 * and says why; it never leaves the transport.
 */
@InternalApi
public final class RefusedBytes extends Exception {
  private static final long serialVersionUID = 1L;

  private final WireRefusal refusal;

  /**
   * A refusal.
   *
   * @param refusal why
   * @param format the broken relation with its values, as in {@link String#format}
   * @param values the values
   */
  public RefusedBytes(WireRefusal refusal, String format, Object... values) {
    super(refusal + ": " + String.format(Locale.ROOT, format, values));
    this.refusal = refusal;
  }

  /**
   * Why.
   *
   * @return the reason
   */
  public WireRefusal refusal() {
    return refusal;
  }
}
