// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/** One collective call of one task on its way: its own record and what the peers said. */
final class Call {
  final CallRecord own;
  final CallRecord[] records;
  final RankTable table;
  final int task;
  OutState outState = OutState.UNTOUCHED;
  boolean entered;

  /** Whether {@link #outState} is certain, whatever peers seem to have done. */
  boolean isOutStateKnown;

  private int[] mapped = {};
  private int[] staged = {};
  private boolean carried;

  Call(CallRecord own, RankTable table, int task) {
    this.own = own;
    this.table = table;
    this.task = task;
    this.records = new CallRecord[table.tasks()];
    this.records[task] = own;
  }

  /** Concludes the pairs' paths, once all records are there and agree. */
  void concludePaths(Transport transport) {
    mapped = peers(transport, PairPath.MAPPED);
    staged = peers(transport, PairPath.STAGED);
    int peers = table.tasks() - 1;
    int rest = peers - mapped.length - staged.length;
    carried = rest > 0;
    if (carried && rest < peers) {
      throw new CollectiveException(
          ErrorCode.INTERNAL,
          header().describe() + ": carried=" + rest + " of " + peers + " pairs");
    }
  }

  /** Concludes that every pair is mapped, since all memory is reached where it lies. */
  void mapAll() {
    mapped = IntStream.range(0, table.tasks()).filter(peer -> peer != task).toArray();
    staged = new int[0];
  }

  /** Concludes that every pair is staged, as a transport has promised, before records are there. */
  void stageAll() {
    staged = IntStream.range(0, table.tasks()).filter(peer -> peer != task).toArray();
  }

  private int[] peers(Transport transport, PairPath path) {
    return IntStream.range(0, table.tasks())
        .filter(peer -> peer != task && transport.path(peer, own, records[peer]) == path)
        .toArray();
  }

  /** The peers whose memory this task reads and writes, and who do so with its own. */
  int[] mapped() {
    return mapped;
  }

  /** The peers that are sent bytes. */
  int[] staged() {
    return staged;
  }

  /** Whether every record holds its task's addends: nothing has to move. */
  boolean isCarried() {
    return carried;
  }

  /** The stretch in which this task works: long where device memory is read in place. */
  int chunkBytes(EngineSettings settings) {
    return header().onDevice() && staged.length == 0
        ? DeviceFoldCall.chunkBytes(settings.chunkBytes())
        : settings.chunkBytes();
  }

  CallHeader header() {
    return own.header();
  }

  long number() {
    return own.header().number();
  }

  /** The views of a mapped peer's (or the own) inputs: one for each logical rank it hosts. */
  View input(int rank) {
    int host = table.taskOf(rank);
    return records[host].inputs().get(rank - table.firstRank(host));
  }

  List<View> outputs(int peer) {
    return records[peer].outputs();
  }

  /** How much of what was to come has arrived, for the message of a wait that ends badly. */
  String arrived(long count, long expected, String what) {
    return header().describe() + ": " + count + " of " + expected + ' ' + what + " arrived";
  }

  /** What has arrived and who is missing, for the message of a wait that ends badly. */
  String missing() {
    StringBuilder text = new StringBuilder(header().describe());
    long arrived = Arrays.stream(records).filter(r -> r != null).count();
    text.append(": ")
        .append(arrived)
        .append(" of ")
        .append(records.length)
        .append(" tasks arrived");
    String separator = "; missing ";
    for (int peer = 0; peer < records.length; peer++) {
      if (records[peer] == null) {
        text.append(separator).append(table.describe(peer));
        separator = ", ";
      }
    }
    return text.toString();
  }
}
