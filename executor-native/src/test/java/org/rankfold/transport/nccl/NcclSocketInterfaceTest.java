// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class NcclSocketInterfaceTest {
  private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

  @ParameterizedTest
  @CsvSource({
    "'eth', eth0, true",
    "'eth', ib0, false",
    "'=eth', eth0, false",
    "'=eth0', eth0, true",
    "'=eth0', eth01, false",
    "'ib,eth1', eth1, true",
    "'=ib0,eth1', eth1, true",
    "'=eth0:4000', eth0, true",
    "'^docker,lo', eth0, true",
    "'^docker,lo', docker0, false",
    "'^=lo', lo, false",
    "'^=lo', lo1, true",
    "'', eth0, false"
  })
  void shouldReadTheVariableAsNcclDoes(String value, String name, boolean expected) {
    assertThat(NcclSocketInterface.selects(value, name)).isEqualTo(expected);
  }

  @Test
  void shouldKeepWhatTheProcessWasStartedWithWhenItSelectsTheInterface() {
    assertThat(new NcclSocketInterface("eth").choose(ADDRESS, "eth0")).isEqualTo("eth");
  }

  @Test
  void shouldNameTheSettingWhenTheProcessWasStartedWithAnotherInterface() {
    assertThatThrownBy(() -> new NcclSocketInterface("=eth1").choose(ADDRESS, "eth0"))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("NCCL_SOCKET_IFNAME==eth1 leaves out eth0")
        .hasMessageContaining("spark.executorEnv.NCCL_SOCKET_IFNAME")
        .extracting(e -> ((CollectiveException) e).code())
        .isEqualTo(ErrorCode.INVALID_CONFIG);
  }

  @Test
  void shouldRefuseWhenNcclHasChosenAlready() {
    NcclSocketInterface used = new NcclSocketInterface(null);
    used.use();
    assertThatThrownBy(() -> used.choose(ADDRESS, "eth0"))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("NCCL already uses an interface it chose in this process, not eth0")
        .extracting(e -> ((CollectiveException) e).code())
        .isEqualTo(ErrorCode.UNSUPPORTED);
  }
}
