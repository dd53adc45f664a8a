// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The meeting point that making a unique id opens in this process: a thread and a listening socket
 * that stay until every task came, and NCCL has no call to end them. A caller that says the id's
 * word and then not what it is does: the thread takes it for a broken task, hangs up and leaves.
 */
final class NcclRoot {
  private static final int CONNECT_TIMEOUT_MS = 1000;
  private static final int WORD_BYTES = Long.BYTES;
  private static final int GREETING = WORD_BYTES + Integer.BYTES;
  private static final int FAMILY_V4 = 2;
  private static final int FAMILY_V6 = 10;

  private NcclRoot() {}

  /** Ends the root of an id made here; without effect when it has ended, or is elsewhere. */
  static void end(byte[] uniqueId) {
    InetSocketAddress address = address(uniqueId);
    if (address == null) {
      return;
    }
    try (Socket call = new Socket()) {
      if (NetworkInterface.getByInetAddress(address.getAddress()) != null) {
        call.connect(address, CONNECT_TIMEOUT_MS);
        // The kind of caller, an int, follows the word; no kind is 0.
        call.getOutputStream().write(Arrays.copyOf(Arrays.copyOf(uniqueId, WORD_BYTES), GREETING));
      }
    } catch (IOException e) {
      // Nobody listens: every task came, or the root has seen a broken one.
    }
  }

  /** Where an id's root listens: a word of 8 bytes, then a C socket address. Null when unknown. */
  static InetSocketAddress address(byte[] uniqueId) {
    ByteBuffer socket = ByteBuffer.wrap(uniqueId, WORD_BYTES, uniqueId.length - WORD_BYTES).slice();
    int family = socket.order(ByteOrder.nativeOrder()).getShort(0) & 0xffff;
    int port = socket.order(ByteOrder.BIG_ENDIAN).getShort(2) & 0xffff;
    int from = WORD_BYTES + (family == FAMILY_V4 ? 4 : 8);
    int length = family == FAMILY_V4 ? 4 : 16;
    if (port == 0 || (family != FAMILY_V4 && family != FAMILY_V6)) {
      return null;
    }
    try {
      return new InetSocketAddress(
          InetAddress.getByAddress(Arrays.copyOfRange(uniqueId, from, from + length)), port);
    } catch (IOException e) {
      return null;
    }
  }
}
