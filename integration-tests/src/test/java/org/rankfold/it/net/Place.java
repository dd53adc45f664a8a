// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.net;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a process runs.
 *
 * @param address the place's, an IP literal
 * @param prefix what stands before a command to run it there
 */
public record Place(String address, List<String> prefix) {
  /**
   * This machine as it is.
   *
   * @param address a loopback address
   * @return the place
   */
  public static Place here(String address) {
    return new Place(address, List.of());
  }

  /**
   * A command that runs here.
   *
   * @param command program and arguments
   * @return the same with the prefix before it
   */
  public List<String> command(List<String> command) {
    List<String> all = new ArrayList<>(prefix);
    all.addAll(command);
    return all;
  }
}
