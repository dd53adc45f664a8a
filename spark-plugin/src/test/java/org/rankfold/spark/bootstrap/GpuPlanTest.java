// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.DeviceConfig;

class GpuPlanTest {
  private static final DeviceConfig AUTO = new DeviceConfig(true, "auto", false, false);
  private static final DeviceConfig NCCL = new DeviceConfig(true, "nccl", false, false);

  private static GpuSeat seat(int task, String process, String host, String pciId, int nccl) {
    return new GpuSeat("task " + task, process, host, 0, pciId, nccl);
  }

  private static List<GpuSeat> seats(String host1, String pci1, int nccl1) {
    return List.of(seat(0, "p0", "a", "0000:1b:00.0", 22809), seat(1, "p1", host1, pci1, nccl1));
  }

  private static String refusal(List<GpuSeat> seats, boolean isEncrypted) {
    CollectiveException refused =
        catchThrowableOfType(CollectiveException.class, () -> GpuPlan.of(seats, NCCL, isEncrypted));
    assertThat(refused.code()).isEqualTo(ErrorCode.UNSUPPORTED);
    GpuPlan plan = GpuPlan.of(seats, AUTO, isEncrypted);
    assertThat(plan.isNccl()).isFalse();
    assertThat(refused.getMessage()).endsWith(plan.reason());
    return refused.getMessage();
  }

  @Test
  void shouldTakeNcclWhenProcessesHaveGpusOfTheirOwn() {
    assertThat(GpuPlan.of(seats("a", "0000:43:00.0", 22809), AUTO, false).isNccl()).isTrue();
    assertThat(GpuPlan.of(seats("b", "0000:1b:00.0", 22809), AUTO, false).isNccl()).isTrue();
  }

  @Test
  void shouldFoldInPlaceWhenAllTasksLiveInOneJvmUnlessNcclIsAskedFor() {
    List<GpuSeat> together =
        List.of(seat(0, "p", "a", "0000:1b:00.0", 22809), seat(1, "p", "a", "0000:43:00.0", 22809));
    assertThat(GpuPlan.of(together, AUTO, false).isNccl()).isFalse();
    assertThat(GpuPlan.of(together, NCCL, false).isNccl()).isTrue();
  }

  @Test
  void shouldTryToReachPeersOnOneHostBeforeAnythingElse() {
    GpuPlan apart = GpuPlan.of(seats("a", "0000:43:00.0", 22809), AUTO, false);
    assertThat(apart.triesPeers()).isTrue();
    assertThat(apart.insists()).isFalse();
    // Sharing a GPU is no obstacle, for NCCL it is.
    GpuPlan sharing = GpuPlan.of(seats("a", "0000:1b:00.0", 22809), AUTO, false);
    assertThat(sharing.triesPeers()).isTrue();
    assertThat(sharing.isNccl()).isFalse();
    assertThat(GpuPlan.of(seats("b", "0000:43:00.0", 22809), AUTO, false).triesPeers()).isFalse();
    assertThat(GpuPlan.of(seats("a", "0000:43:00.0", 22809), NCCL, false).triesPeers()).isFalse();
    DeviceConfig host = new DeviceConfig(true, "host", false, false);
    assertThat(GpuPlan.of(seats("a", "0000:43:00.0", 0), host, false).triesPeers()).isFalse();
    List<GpuSeat> oneJvmOneGpu =
        List.of(seat(0, "p", "a", "0000:1b:00.0", 0), seat(1, "p", "a", "0000:1b:00.0", 0));
    assertThat(GpuPlan.of(oneJvmOneGpu, AUTO, false).triesPeers()).isFalse();
  }

  @Test
  void shouldInsistOnReachingPeersWhenItIsAskedForByName() {
    DeviceConfig peer = new DeviceConfig(true, "peer", false, false);
    GpuPlan plan = GpuPlan.of(seats("a", "0000:1b:00.0", 0), peer, true);
    assertThat(plan.triesPeers()).isTrue();
    assertThat(plan.insists()).isTrue();
    CollectiveException refused =
        catchThrowableOfType(
            CollectiveException.class,
            () -> GpuPlan.of(seats("b", "0000:43:00.0", 0), peer, false));
    assertThat(refused.code()).isEqualTo(ErrorCode.UNSUPPORTED);
    assertThat(refused).hasMessageContaining("task 0 and task 1 live on different hosts");
  }

  @Test
  void shouldNameBothTasksAndTheSettingWhenTheyShareAGpu() {
    assertThat(refusal(seats("a", "0000:1b:00.0", 22809), false))
        .contains("task 0 and task 1 share GPU 0000:1b:00.0")
        .contains("spark.rankfold.nccl.shared-device");
    DeviceConfig shared = new DeviceConfig(true, "nccl", false, true);
    assertThat(GpuPlan.of(seats("a", "0000:1b:00.0", 22809), shared, false).isNccl()).isTrue();
  }

  @Test
  void shouldStateBothVersionsWhenTheyDifferOrOneIsMissing() {
    assertThat(refusal(seats("b", "0000:43:00.0", 22803), false))
        .contains("task 1 NCCL version=22803 != task 0 version=22809");
    assertThat(refusal(seats("b", "0000:43:00.0", 0), false)).contains("version=0 < 22600");
  }

  @Test
  void shouldNotSendInTheClearBetweenHostsWhenSparkEncrypts() {
    assertThat(refusal(seats("b", "0000:43:00.0", 22809), true))
        .contains("spark.rankfold.nccl.plaintext=allow");
    assertThat(GpuPlan.of(seats("a", "0000:43:00.0", 22809), NCCL, true).isNccl()).isTrue();
    DeviceConfig allowed = new DeviceConfig(true, "nccl", true, false);
    assertThat(GpuPlan.of(seats("b", "0000:43:00.0", 22809), allowed, true).isNccl()).isTrue();
  }

  @Test
  void shouldStayOnTheHostWhenToldToOrAlone() {
    DeviceConfig host = new DeviceConfig(true, "host", false, false);
    assertThat(GpuPlan.of(seats("b", "0000:43:00.0", 22809), host, false).isNccl()).isFalse();
    assertThat(GpuPlan.of(List.of(seat(0, "p", "a", "0000:1b:00.0", 0)), NCCL, false).isNccl())
        .isFalse();
  }

  @Test
  void shouldBeItselfWhenDecoded() {
    for (GpuRow row :
        List.of(GpuRow.NONE, new GpuRow(3, List.of("0000:1b:00.0", "0000:43:00.0"), 22809))) {
      assertThat(GpuRow.decode(row.encode())).isEqualTo(row);
    }
  }
}
