// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class DeviceChoiceTest {
  private static final List<CudaDeviceInfo> DEVICES =
      List.of(
          device(0, "0000:1b:00.0", "GPU-11111111-2222-3333-4444-555555555555"),
          device(1, "0000:43:00.0", "GPU-99999999-2222-3333-4444-555555555555"));

  @ParameterizedTest
  @CsvSource(
      nullValues = "unset",
      value = {
        "0, unset, 0",
        "1, unset, 1",
        "3, '2,3', 1",
        "2, ' 2 , 3', 0",
        "GPU-99999999-2222-3333-4444-555555555555, unset, 1",
        "gpu-99999999-2222-3333-4444-555555555555, '7,8', 1",
        "00000000:43:00.0, unset, 1",
        "0000:1B:00.0, unset, 0",
        "43:00.0, unset, 1",
      })
  void shouldFindTheDeviceThatAnAddressMeans(String address, String visible, int ordinal) {
    assertThat(DeviceChoice.ordinal(address, visible, DEVICES)).isEqualTo(ordinal);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "unset",
      value = {"2, unset", "0, '2,3'", "GPU-0, unset", "44:00.0, unset", "x, unset", "1, GPU-9999"})
  void shouldSayWhatThereIsWhenAnAddressMeansNone(String address, String visible) {
    assertThatThrownBy(() -> DeviceChoice.ordinal(address, visible, DEVICES))
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_CONFIG))
        .hasMessageContaining("address=" + address)
        .hasMessageContaining("1=GPU-99999999-2222-3333-4444-555555555555=0000:43:00.0")
        .hasMessageContaining("CUDA_VISIBLE_DEVICES=" + visible);
  }

  @Test
  void shouldTakeDevicesByTurnsWhenNoneIsGiven() {
    assertThat(DeviceChoice.ofLocalRank(5, 2)).isEqualTo(1);
    assertThat(DeviceChoice.ofLocalRank(0, 1)).isZero();
    assertThatThrownBy(() -> DeviceChoice.ofLocalRank(0, 0))
        .isInstanceOf(CollectiveException.class);
  }

  @ParameterizedTest
  @CsvSource({"0, 1048576", "1048576, 1048576", "1048577, 2097152", "3000000, 4194304"})
  void shouldRoundScratchUpToItsSize(long bytes, long size) {
    assertThat(DeviceScratch.sizeOf(bytes)).isEqualTo(size);
  }

  private static CudaDeviceInfo device(int ordinal, String pciId, String uuid) {
    return new CudaDeviceInfo(ordinal, "some device", pciId, uuid, 9, 0, 132, 1L << 30);
  }
}
