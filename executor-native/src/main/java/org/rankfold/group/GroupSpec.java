// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.net.InetSocketAddress;
import java.util.List;
import org.rankfold.InternalApi;
import org.rankfold.transport.RankTable;
import org.rankfold.wire.GroupSecret;

/**
 * What a bootstrap has found out about a group, the same for its tasks but for the task itself.
 *
 * @param secret the group's id and secret
 * @param table who hosts what
 * @param task this task
 * @param addresses where each task's process listens, by task; IP addresses, resolved
 * @param encrypt whether frames travel encrypted, under keys that follow from the secret
 */
@InternalApi
public record GroupSpec(
    GroupSecret secret,
    RankTable table,
    int task,
    List<InetSocketAddress> addresses,
    boolean encrypt) {
  /**
   * A spec with a list of its own.
   *
   * @param secret not null
   * @param table not null
   * @param task from 0, below the table's tasks
   * @param addresses one for each task
   * @param encrypt whether frames travel encrypted
   */
  public GroupSpec {
    addresses = List.copyOf(addresses);
  }
}
