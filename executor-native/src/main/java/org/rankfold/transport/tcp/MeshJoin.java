// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.InternalApi;
import org.rankfold.contract.ReduceContract;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.RankTable;
import org.rankfold.wire.GroupSecret;
import org.rankfold.wire.GroupTerms;

/**
 * How a task joins its group: it dials every peer with a lower number and is dialed by those with a
 * higher one, T(T-1)/2 connections in all, T-1 a task. Use once.
 */
@InternalApi
public final class MeshJoin {
  private static final long PARK_NS = 200_000;

  private final TcpListener listener;
  private final GroupSecret secret;
  private final RankTable table;
  private final int task;
  private final List<InetSocketAddress> addresses;
  private final TcpOptions options;
  private final GroupTerms terms;

  /**
   * A task about to join.
   *
   * @param listener this process's listener, borrowed until the transport is closed
   * @param secret the group's id and secret
   * @param table who hosts what
   * @param task this task
   * @param addresses the listeners' addresses by task
   * @param options chunk and timeouts
   */
  public MeshJoin(
      TcpListener listener,
      GroupSecret secret,
      RankTable table,
      int task,
      List<InetSocketAddress> addresses,
      TcpOptions options) {
    if (addresses.size() != table.tasks() || task < 0 || task >= table.tasks()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "addresses=%d task=%d of tasks=%d",
          addresses.size(),
          task,
          table.tasks());
    }
    this.listener = listener;
    this.secret = secret;
    this.table = table;
    this.task = task;
    this.addresses = List.copyOf(addresses);
    this.options = options;
    this.terms =
        new GroupTerms(table.world(), table.tasks(), ReduceContract.VERSION, options.chunkBytes());
  }

  TcpListener listener() {
    return listener;
  }

  GroupSecret secret() {
    return secret;
  }

  RankTable table() {
    return table;
  }

  int task() {
    return task;
  }

  TcpOptions options() {
    return options;
  }

  GroupTerms terms() {
    return terms;
  }

  /** How many tasks listen where this one does, itself included. */
  int localTasks() {
    return (int)
        addresses.stream()
            .filter(a -> a.getAddress().equals(addresses.get(task).getAddress()))
            .count();
  }

  /**
   * Connects to all peers. Blocks until all are connected, at most the connect timeout.
   *
   * @return the task's transport, owned by the caller
   * @throws CollectiveException BOOTSTRAP_FAILED naming the pairs that are missing and why;
   *     STALE_GROUP when this task has joined the group before; CANCELLED when interrupted; nothing
   *     is left open then
   */
  public TcpTransport open() {
    Seat seat = new Seat(secret, terms, task, Thread.currentThread());
    listener.add(seat);
    List<MeshLink> links = new ArrayList<>();
    List<Dial> dials = new ArrayList<>();
    try {
      long nowNs = System.nanoTime();
      Deadline deadline = Deadline.after(nowNs, options.connectTimeoutNs());
      for (int peer = 0; peer < task; peer++) {
        dials.add(new Dial(this, peer, addresses.get(peer), nowNs));
      }
      while (!dials.isEmpty() || !seat.isFull(table.tasks() - 1 - task)) {
        if (!proceed(dials, links, nowNs)) {
          check(dials, seat, deadline, nowNs);
          LockSupport.parkNanos(PARK_NS);
        }
        nowNs = System.nanoTime();
      }
      links.addAll(seat.takeLinks());
      return new TcpTransport(this, links, System.nanoTime());
    } catch (RuntimeException | Error e) {
      dials.forEach(Dial::close);
      links.forEach(MeshLink::close);
      throw e;
    } finally {
      listener.remove(seat);
    }
  }

  private static boolean proceed(List<Dial> dials, List<MeshLink> links, long nowNs) {
    int before = links.size();
    Iterator<Dial> left = dials.iterator();
    while (left.hasNext()) {
      MeshLink link = left.next().proceed(nowNs);
      if (link != null) {
        links.add(link);
        left.remove();
      }
    }
    return links.size() > before;
  }

  private void check(List<Dial> dials, Seat seat, Deadline deadline, long nowNs) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CollectiveException(
          ErrorCode.CANCELLED, "interrupted while connecting: " + missing(dials, seat));
    }
    boolean isRefused = dials.stream().anyMatch(Dial::isRefused);
    if (isRefused || deadline.isExpired(nowNs)) {
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED,
          String.format(
              Locale.ROOT,
              "group %s: %s at %s could not connect within %.1f s: %s",
              secret.epoch(),
              table.describe(task),
              Sockets.text(listener.address()),
              deadline.budgetSeconds(),
              missing(dials, seat)));
    }
  }

  private String missing(List<Dial> dials, Seat seat) {
    StringBuilder text = new StringBuilder();
    for (Dial dial : dials) {
      text.append(text.length() > 0 ? "; " : "")
          .append(table.describe(dial.peer()))
          .append(" at ")
          .append(Sockets.text(addresses.get(dial.peer())))
          .append(": ")
          .append(dial.lastReason());
    }
    for (int peer = task + 1; peer < table.tasks(); peer++) {
      if (!seat.has(peer)) {
        text.append(text.length() > 0 ? "; " : "")
            .append(table.describe(peer))
            .append(" has not dialed");
      }
    }
    return text.toString();
  }
}
