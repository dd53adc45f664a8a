// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class AddressRangeTest {
  private static List<AddressRange> ranges(String text) {
    return ConfigKeys.NETWORK_CIDR.of(ConfigSource.of(Map.of("spark.rankfold.network.cidr", text)));
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.255.0.1, true",
    "10.0.0.0/8, 11.0.0.1, false",
    "192.168.4.0/22, 192.168.7.255, true",
    "192.168.4.0/22, 192.168.8.0, false",
    "192.0.2.2, 192.0.2.2, true",
    "192.0.2.2, 192.0.2.3, false",
    "0.0.0.0/0, 1.2.3.4, true",
    "0.0.0.0/0, ::1, false",
    "fd00::/8, fdff::1, true",
    "fd00::/8, fe80::1, false",
    "2001:db8::/33, 2001:db8:7fff::1, true",
    "2001:db8::/33, 2001:db8:8000::1, false",
    "::1, ::1, true",
    "::/0, 127.0.0.1, false"
  })
  void shouldContainWhatSharesItsPrefix(String range, String address, boolean isIn)
      throws Exception {
    assertEquals(isIn, ranges(range).get(0).contains(InetAddress.getByName(address)));
  }

  @Test
  void shouldKeepTheOrderOfSeveral() {
    assertEquals("[10.0.0.0/8, fd00:0:0:0:0:0:0:0/8]", ranges("10.0.0.0/8, fd00::/8").toString());
    assertTrue(ranges("auto").isEmpty());
    assertTrue(ConfigKeys.NETWORK_CIDR.of(key -> null).isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/x",
    "10.0.0/8",
    "localhost/8",
    "fd00::/129",
    "10.0.0.0/8;",
    "''"
  })
  void shouldRefuseWhatIsNone(String text) {
    CollectiveException e = assertThrows(CollectiveException.class, () -> ranges(text));
    assertEquals(ErrorCode.INVALID_CONFIG, e.code());
    assertTrue(e.getMessage().startsWith("spark.rankfold.network.cidr=" + text), e.getMessage());
  }
}
