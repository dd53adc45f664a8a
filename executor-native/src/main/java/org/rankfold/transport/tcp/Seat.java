// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rankfold.wire.GroupSecret;
import org.rankfold.wire.GroupTerms;

/**
 * A task that peers may dial, from when it opens its group until it has left it. Thread-safe: the
 * listener's thread adds links, the task's takes them.
 */
final class Seat {
  private final GroupSecret secret;
  private final GroupTerms terms;
  private final int task;
  private final Thread owner;
  private final Set<Integer> greeted = new HashSet<>();
  private final Map<Integer, MeshLink> links = new HashMap<>();
  private boolean isClosed;

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

  /**
   * Whether a peer that has shown the secret is the only one with its number. One whose connection
   * broke before it read its verdict dials again: the dead link makes room for it.
   */
  synchronized boolean take(int peer) {
    if (isClosed || greeted.contains(peer)) {
      return false;
    }
    MeshLink earlier = links.get(peer);
    if (earlier != null) {
      if (!earlier.isDead()) {
        return false;
      }
      earlier.close();
      links.remove(peer);
    }
    return greeted.add(peer);
  }

  /** The greeting that took the peer's number ended without a link. */
  synchronized void giveBack(int peer) {
    greeted.remove(peer);
  }

  /** Keeps the link of a peer whose number was taken; closes it when the task is gone. */
  synchronized void add(MeshLink link) {
    greeted.remove(link.peer());
    if (isClosed) {
      link.close();
    } else {
      links.put(link.peer(), link);
    }
  }

  synchronized boolean has(int peer) {
    return links.containsKey(peer);
  }

  /** Whether so many peers are connected; those that are gone again are forgotten first. */
  synchronized boolean isFull(int peers) {
    if (links.size() < peers) {
      return false;
    }
    links
        .values()
        .removeIf(
            link -> {
              boolean isDead = link.isDead();
              if (isDead) {
                link.close();
              }
              return isDead;
            });
    return links.size() == peers;
  }

  /** Hands the links over to the caller; no peer may sit down from now on. */
  synchronized List<MeshLink> takeLinks() {
    isClosed = true;
    List<MeshLink> taken = new ArrayList<>(links.values());
    links.clear();
    return taken;
  }

  String key() {
    return key(secret.idHex(), task);
  }

  static String key(String groupId, int task) {
    return groupId + "/" + task;
  }
}
