// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.RankTable;

/**
 * Whether all tasks ask for the same. Every task looks at the same headers in the same order, so
 * all find the same first difference, state both values and go on with the next call.
 */
final class Agreement {
  private Agreement() {}

  static void require(RankTable table, CallRecord[] records) {
    for (int task = 0; task < records.length; task++) {
      CallHeader header = records[task].header();
      if (header.isParting()) {
        throw new CollectiveException(
            ErrorCode.PEER_FAILED,
            table.describe(task) + " closed its communicator after call #" + (header.number() - 1));
      }
      if (header.refusal() != null) {
        throw CollectiveException.usage(
            header.refusal(),
            "%s refused by %s: %s",
            header.describe(),
            table.describe(task),
            header.refusalText());
      }
    }
    CallHeader first = records[0].header();
    for (int task = 1; task < records.length; task++) {
      CallHeader other = records[task].header();
      if (other.kind() != first.kind()) {
        throw differ(
            ErrorCode.CALL_MISMATCH, table, task, "call", other.describe(), first.describe());
      }
      if (other.dtype() != first.dtype()) {
        throw differ(
            ErrorCode.CONTRACT_MISMATCH,
            table,
            task,
            "dtype",
            other.dtype().label(),
            first.dtype().label());
      }
      if (other.contract() != null && !other.contract().equals(first.contract())) {
        throw differ(
            ErrorCode.CONTRACT_MISMATCH,
            table,
            task,
            "contract",
            other.contract().id(),
            first.contract().id());
      }
      requireEqual(ErrorCode.COUNT_MISMATCH, table, task, "length", other.count(), first.count());
      requireEqual(ErrorCode.CALL_MISMATCH, table, task, "root", other.root(), first.root());
      requireEqual(
          ErrorCode.CALL_MISMATCH,
          table,
          task,
          "chunkBytes",
          other.chunkBytes(),
          first.chunkBytes());
    }
    if (records.length > 1) {
      Aliasing.requireDisjointTasks(table, records);
    }
  }

  private static void requireEqual(
      ErrorCode code, RankTable table, int task, String what, long value, long first) {
    if (value != first) {
      throw differ(code, table, task, what, Long.toString(value), Long.toString(first));
    }
  }

  private static CollectiveException differ(
      ErrorCode code, RankTable table, int task, String what, String value, String first) {
    return CollectiveException.usage(
        code, "rank=%d %s=%s != rank=0 %s=%s", table.firstRank(task), what, value, what, first);
  }
}
