// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which address executors bind and publish, in a real cluster. */
@Timeout(600)
class AddressIT {
  /** 127.0.0.1 as an IPv6 socket holds it, and ::1, in the kernel's words of the host's order. */
  private static final String V4 = "[0000000000000000FFFF00000100007F]";

  private static final String V6 = "[00000000000000000000000001000000]";

  @TempDir private Path folder;

  @Test
  void shouldListenWhereTheDriverIsReachedOrWhereItIsTold() throws Exception {
    assumeTrue(Files.isReadable(Path.of("/proc/net/tcp6")), "no IPv6 here, or no Linux");
    try (SparkProcess driver =
        SparkProcess.start(
            folder,
            AddressMain.class,
            Integer.toString(freePort()),
            "auto",
            "203.0.113.0/24,::1/128",
            "203.0.113.0/24")) {
      assertThat(driver.awaitEnd(540)).as(driver.errors()).isZero();
      assertThat(driver.lines().get(0)).isEqualTo("RUN auto golden=true " + V4);
      assertThat(driver.lines().get(1)).isEqualTo("RUN 203.0.113.0/24,::1/128 golden=true " + V6);
      assertThat(driver.lines().get(2))
          .startsWith("FAILED 203.0.113.0/24 INVALID_CONFIG ")
          .contains("spark.rankfold.network.cidr=203.0.113.0/24: host 127.0.0.1", "lo 127.0.0.1");
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return Math.min(socket.getLocalPort(), 65_000);
    }
  }
}
