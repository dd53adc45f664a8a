// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * The order in which the staged addends of a chunk reach the task that folds it. Results never
 * depend on it; tests show so.
 *
 * @param kind the kind of order
 * @param seed of a shuffled order, else 0
 */
public record DeliveryOrder(Kind kind, long seed) {
  /** The kinds of order. */
  public enum Kind {
    /** As they arrive. */
    ARRIVAL,
    /** By ascending logical rank. */
    ASCENDING,
    /** By descending logical rank. */
    DESCENDING,
    /** By a permutation drawn from the seed, the call and the chunk. */
    SHUFFLED
  }

  /** Addends are handed out as they arrive. */
  public static final DeliveryOrder ARRIVAL = new DeliveryOrder(Kind.ARRIVAL, 0);

  /**
   * Parses an order.
   *
   * @param text {@code arrival}, {@code ascending}, {@code descending} or {@code shuffled:SEED}
   * @return the order
   * @throws CollectiveException INVALID_ARGUMENT for anything else
   */
  public static DeliveryOrder parse(String text) {
    return switch (text) {
      case "arrival" -> ARRIVAL;
      case "ascending" -> new DeliveryOrder(Kind.ASCENDING, 0);
      case "descending" -> new DeliveryOrder(Kind.DESCENDING, 0);
      default -> new DeliveryOrder(Kind.SHUFFLED, seedOf(text));
    };
  }

  private static long seedOf(String text) {
    if (text.startsWith("shuffled:")) {
      try {
        return Long.parseLong(text.substring("shuffled:".length()));
      } catch (NumberFormatException e) {
        throw refused(text);
      }
    }
    throw refused(text);
  }

  private static CollectiveException refused(String text) {
    return CollectiveException.usage(
        ErrorCode.INVALID_ARGUMENT,
        "delivery=%s is none of: arrival, ascending, descending, shuffled:SEED",
        text);
  }
}
