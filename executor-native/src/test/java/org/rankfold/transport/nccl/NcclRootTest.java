// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class NcclRootTest {
  @Test
  void shouldFindWhereTheRootListensWhenTheAddressIsOfVersion4() {
    byte[] id = id(2, 40_000);
    id[12] = 10;
    id[15] = 7;
    assertThat(NcclRoot.address(id)).hasToString("/10.0.0.7:40000");
  }

  @Test
  void shouldFindWhereTheRootListensWhenTheAddressIsOfVersion6() {
    byte[] id = id(10, 40_000);
    id[31] = 1;
    assertThat(NcclRoot.address(id)).hasToString("/[0:0:0:0:0:0:0:1]:40000");
  }

  @Test
  void shouldFindNothingWhenTheIdIsOfAnotherForm() {
    assertThat(NcclRoot.address(id(1, 40_000))).isNull();
    assertThat(NcclRoot.address(id(2, 0))).isNull();
  }

  private static byte[] id(int family, int port) {
    byte[] id = new byte[128];
    ByteBuffer.wrap(id).order(ByteOrder.nativeOrder()).putShort(8, (short) family);
    ByteBuffer.wrap(id).putShort(10, (short) port);
    return id;
  }
}
