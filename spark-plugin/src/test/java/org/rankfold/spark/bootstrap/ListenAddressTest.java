// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.config.AddressRange;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class ListenAddressTest {
  private static List<AddressRange> ranges(String text) {
    return ConfigKeys.NETWORK_CIDR.of(ConfigSource.of(Map.of("spark.rankfold.network.cidr", text)));
  }

  private static List<ListenAddress.Found> host() throws UnknownHostException {
    List<ListenAddress.Found> found = new ArrayList<>();
    for (String one :
        List.of("lo 127.0.0.1", "eth0 10.1.2.3", "eth0 fe80::1", "eth1 10.9.0.1", "eth1 fd00::7")) {
      String[] words = one.split(" ", 2);
      found.add(new ListenAddress.Found(words[0], InetAddress.getByName(words[1])));
    }
    return found;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10.0.0.0/8|10.1.2.3",
        "10.9.0.0/16|10.9.0.1",
        "fd00::/8|fd00:0:0:0:0:0:0:7",
        "::/0|fd00:0:0:0:0:0:0:7",
        "192.168.0.0/16,10.9.0.0/16|10.9.0.1",
        "fd00::/8,10.0.0.0/8|fd00:0:0:0:0:0:0:7"
      })
  void shouldTakeTheFirstAddressOfTheFirstRange(String text, String address) throws Exception {
    assertThat(ListenAddress.within(ranges(text), host(), "h").getHostAddress()).isEqualTo(address);
  }

  @ParameterizedTest
  @CsvSource({"192.168.0.0/16", "fe80::/10"})
  void shouldNameWhatItFoundWhenNoneFits(String text) throws Exception {
    List<ListenAddress.Found> host = host();
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class, () -> ListenAddress.within(ranges(text), host, "node-b"));
    assertThat(e.code()).isEqualTo(ErrorCode.INVALID_CONFIG);
    assertThat(e)
        .hasMessageStartingWith("spark.rankfold.network.cidr=")
        .hasMessageContaining("host node-b")
        .hasMessageEndingWith(
            "found lo 127.0.0.1, eth0 10.1.2.3, eth0 fe80:0:0:0:0:0:0:1 (link-local), eth1 10.9.0.1,"
                + " eth1 fd00:0:0:0:0:0:0:7");
  }

  @Test
  void shouldSayNothingWhenTheDriverIsUnknown() {
    assertThat(ListenAddress.towardsDriver(new SparkConf(false))).isNull();
  }
}
