// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import org.rankfold.InternalApi;

/** Why bytes were refused, as a number that is stable across versions. */
@InternalApi
public enum WireRefusal {
  /** The bytes do not begin as Rankfold's do. */
  BAD_MAGIC(1),
  /** Another version of the protocol. */
  BAD_VERSION(2),
  /** A kind of message or frame that does not exist, or not at this place. */
  BAD_TYPE(3),
  /** A field holds a value that its kind of frame does not allow. */
  BAD_FIELD(4),
  /** A length outside the bound of its kind of frame. */
  BAD_LENGTH(5),
  /** A frame of another group. */
  STALE_EPOCH(6),
  /** A call, chunk or credit that cannot come now. */
  OUT_OF_SEQUENCE(7),
  /** Data whose call's header differs from the header that was sent before. */
  CONTRACT_MISMATCH(8),
  /** A sealed record that the peer did not seal so. */
  BAD_SEAL(9),
  /** No group of this id is open here yet; the dialer may try again. */
  UNKNOWN_GROUP(20),
  /** The group of this id has ended here. */
  STALE_GROUP(21),
  /** The tasks of the greeting are not the ones that should meet here. */
  WRONG_TASK(22),
  /** A message came back to who made it. */
  REFLECTION(23),
  /** A greeting that was used before. */
  REPLAY(24),
  /** The peer does not know the group's secret. */
  WRONG_SECRET(25),
  /** Both sides know the secret but disagree on what the group is. */
  TERMS_DIFFER(26),
  /** The pair is connected already. */
  DUPLICATE(27),
  /** Too many strangers at once. */
  BUSY(28),
  /** The handshake took too long. */
  TOO_SLOW(29);

  private final int number;

  WireRefusal(int number) {
    this.number = number;
  }

  /**
   * The stable number.
   *
   * @return above 0
   */
  public int number() {
    return number;
  }

  /**
   * The reason of a number received from a peer.
   *
   * @param number a stable number
   * @return the reason, or null when this version does not know the number
   */
  public static WireRefusal ofNumber(int number) {
    for (WireRefusal refusal : values()) {
      if (refusal.number == number) {
        return refusal;
      }
    }
    return null;
  }
}
