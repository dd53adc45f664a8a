// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A range of IP addresses as a prefix, such as {@code 10.0.0.0/8} or {@code fd00::/8}.
 *
 * @param network any address of the range; IPv4 and IPv6 are never in each other's ranges
 * @param prefixBits how many leading bits an address must share with it
 */
public record AddressRange(InetAddress network, int prefixBits) {
  private static final Pattern V4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
  private static final Pattern V6 = Pattern.compile("[0-9a-fA-F:]*:[0-9a-fA-F:.]*");

  /**
   * A checked range.
   *
   * @param network not null
   * @param prefixBits from 0 to the length of the address, 32 or 128
   */
  public AddressRange {
    int most = network.getAddress().length * Byte.SIZE;
    if (prefixBits < 0 || prefixBits > most) {
      throw new IllegalArgumentException("prefix=" + prefixBits + " is not from 0 to " + most);
    }
  }

  /** Ranges separated by commas; none for {@code auto}. Looks no name up. */
  static List<AddressRange> parseAll(String text) {
    List<AddressRange> ranges = new ArrayList<>();
    if (!text.equals("auto")) {
      for (String range : text.split(",", -1)) {
        ranges.add(parse(range.trim()));
      }
    }
    return List.copyOf(ranges);
  }

  private static AddressRange parse(String text) {
    int slash = text.indexOf('/');
    String address = slash < 0 ? text : text.substring(0, slash);
    try {
      if (!V4.matcher(address).matches() && !V6.matcher(address).matches()) {
        throw new UnknownHostException(address);
      }
      InetAddress network = InetAddress.getByName(address);
      int most = network.getAddress().length * Byte.SIZE;
      return new AddressRange(
          network, slash < 0 ? most : Integer.parseInt(text.substring(slash + 1)));
    } catch (UnknownHostException | NumberFormatException e) {
      throw new IllegalArgumentException(
          text + " is not auto or ranges such as 10.0.0.0/8,fd00::/8", e);
    }
  }

  /**
   * Whether an address lies in the range.
   *
   * @param address any
   * @return false also for an address of the other family
   */
  public boolean contains(InetAddress address) {
    byte[] own = network.getAddress();
    byte[] other = address.getAddress();
    if (own.length != other.length) {
      return false;
    }
    for (int bit = 0; bit < prefixBits; bit += Byte.SIZE) {
      int bits = Math.min(Byte.SIZE, prefixBits - bit);
      int mask = 0xff << (Byte.SIZE - bits) & 0xff;
      int at = bit / Byte.SIZE;
      if ((own[at] & mask) != (other[at] & mask)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The range as it is written.
   *
   * @return for example {@code 10.0.0.0/8}
   */
  @Override
  public String toString() {
    return network.getHostAddress() + "/" + prefixBits;
  }
}
