// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.StringJoiner;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;

/** Why a rank's kernel refused, as peer.cu left it in pinned memory. */
record PeerReport(
    Verdict verdict,
    Phase phase,
    int culprit,
    int missing,
    int entered,
    int inside,
    Outcome outcome,
    long call,
    long seen,
    long expected) {
  private static final double NS_PER_SECOND = 1e9;

  /** As in peer.cu, in its order. */
  enum Verdict {
    FINE,
    FOLLOWS,
    BROKEN,
    WITHDRAWN,
    PEER_REFUSED,
    DIFFERS,
    AHEAD,
    EXPIRED
  }

  /** As in peer.cu, in its order. */
  enum Phase {
    NONE,
    START,
    PUSHED,
    END;

    String barrier() {
      return name().toLowerCase(Locale.ROOT) + " barrier";
    }
  }

  /** As in peer.cu, in its order. */
  enum Outcome {
    UNTOUCHED,
    PARTLY_WRITTEN,
    STILL_INSIDE
  }

  /** The report, or null while the rank has not refused. */
  static PeerReport read(ByteBuffer bytes) {
    if (bytes.getLong(56) == 0) {
      return null;
    }
    return new PeerReport(
        Verdict.values()[bytes.getInt(4)],
        Phase.values()[bytes.getInt(8)],
        bytes.getInt(12),
        bytes.getInt(16),
        bytes.getInt(20),
        bytes.getInt(24),
        Outcome.values()[bytes.getInt(28)],
        bytes.getLong(32),
        bytes.getLong(40),
        bytes.getLong(48));
  }

  /** What this rank's caller is told. */
  CollectiveException toException(int rank, int ranks, PeerTimeouts timeouts) {
    long waitedNs = phase == Phase.END ? timeouts.endNs() : timeouts.startNs();
    String what =
        switch (verdict) {
          case EXPIRED ->
              String.format(
                  Locale.ROOT,
                  "rank=%s of %d missing at the %s for %.3f s",
                  ranksOf(missing),
                  ranks,
                  phase.barrier(),
                  waitedNs / NS_PER_SECOND);
          case DIFFERS ->
              String.format(
                  Locale.ROOT,
                  "rank=%d word=%016x != rank=%d word=%016x at the %s: their calls differ",
                  culprit,
                  seen,
                  rank,
                  expected,
                  phase.barrier());
          case AHEAD ->
              String.format(
                  Locale.ROOT,
                  "rank=%d call=%d > rank=%d call=%d at the %s: calls were left out or added",
                  culprit,
                  seen >>> 32,
                  rank,
                  call,
                  phase.barrier());
          case PEER_REFUSED -> "rank=" + culprit + " refused before the " + phase.barrier();
          case WITHDRAWN -> "a peer gave this call up before this rank had entered it";
          case FINE, FOLLOWS, BROKEN -> "verdict=" + verdict + " at the " + phase.barrier();
        };
    return new CollectiveException(
        code(),
        String.format(
            Locale.ROOT, "call #%d of rank %d refused: %s; %s", call, rank, what, consequence()),
        outcome == Outcome.UNTOUCHED ? OutState.UNTOUCHED : OutState.PARTLY_WRITTEN,
        null);
  }

  private ErrorCode code() {
    if (outcome == Outcome.STILL_INSIDE) {
      return ErrorCode.MEMORY_STILL_BORROWED;
    }
    return switch (verdict) {
      case EXPIRED -> ErrorCode.TIMEOUT;
      case DIFFERS, AHEAD -> ErrorCode.PROTOCOL;
      case WITHDRAWN, PEER_REFUSED -> ErrorCode.PEER_FAILED;
      case FINE, FOLLOWS, BROKEN -> ErrorCode.INTERNAL;
    };
  }

  private String consequence() {
    if (outcome == Outcome.UNTOUCHED) {
      return "output untouched";
    }
    if (phase == Phase.END) {
      return outcome == Outcome.STILL_INSIDE
          ? "output written by this rank, peers unknown: they may still use this rank's memory"
          : "output written by this rank, not by all peers; all have left";
    }
    if (phase == Phase.PUSHED) {
      return "output partly written, by this rank only";
    }
    return outcome == Outcome.STILL_INSIDE
        ? "rank=" + ranksOf(inside) + " had entered and may still use this rank's memory"
        : "output partly written: rank=" + ranksOf(entered) + " had entered, and has left";
  }

  static String ranksOf(int mask) {
    StringJoiner ranks = new StringJoiner(",");
    for (int r = 0; r < Integer.SIZE; r++) {
      if ((mask >>> r & 1) != 0) {
        ranks.add(Integer.toString(r));
      }
    }
    return ranks.toString();
  }
}
