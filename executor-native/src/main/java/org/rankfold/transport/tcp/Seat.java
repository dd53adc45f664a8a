// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.rankfold.wire.GroupSecret;
import org.rankfold.wire.GroupTerms;

/** A task that peers may dial, from when it opens its group until it has left it. */
final class Seat {
  private final GroupSecret secret;
  private final GroupTerms terms;
  private final int task;
  private final Thread owner;
  private final Set<Integer> taken = ConcurrentHashMap.newKeySet();
  private final Queue<MeshLink> accepted = new ConcurrentLinkedQueue<>();

  Seat(GroupSecret secret, GroupTerms terms, int task, Thread owner) {
    this.secret = secret;
    this.terms = terms;
    this.task = task;
    this.owner = owner;
  }

  GroupSecret secret() {
    return secret;
  }

  GroupTerms terms() {
    return terms;
  }

  int task() {
    return task;
  }

  Thread owner() {
    return owner;
  }

  /** Whether a peer that has shown the secret is the first with its number. */
  boolean take(int peer) {
    return taken.add(peer);
  }

  Queue<MeshLink> accepted() {
    return accepted;
  }

  String key() {
    return key(secret.idHex(), task);
  }

  static String key(String groupId, int task) {
    return groupId + "/" + task;
  }
}
