// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.spark.bootstrap.BootstrapRow.RowFailure;

class BootstrapRowTest {
  private static final GroupConfig AUTO = GroupConfig.of(key -> null);
  private static final GroupConfig LOOPBACK =
      GroupConfig.of(key -> key.equals("spark.rankfold.transport") ? "loopback" : null);

  private static BootstrapRow row(int task, int world, long pid, RowFailure failure) {
    return row(task, world, pid, new Versions("1.0", 1, "17.0.15", "4.2.0"), failure);
  }

  private static BootstrapRow row(
      int task, int world, long pid, Versions versions, RowFailure failure) {
    return new BootstrapRow(
        task,
        world,
        2,
        "e" + task,
        "host-" + task,
        new ProcessIdentity("boot", "pid:[4026531836]", pid, "nonce"),
        "10.0.0.1 4711",
        List.of("10", "11"),
        new GpuRow(1, List.of("0000:1b:00.0", "0000:43:00.0"), 22809),
        versions,
        new MemoryLimits(1, 2, -1),
        "n" + task,
        "s" + task,
        failure);
  }

  private static CollectiveException thrownBy(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable code) {
    return catchThrowableOfType(CollectiveException.class, code);
  }

  @Test
  void shouldBeItselfWhenDecoded() {
    RowFailure failure = new RowFailure(ErrorCode.INVALID_CONFIG, "a=b\r\nC:\\new \\\\ ü");
    BootstrapRow failed = row(1, 8, 4711, failure);
    assertThat(BootstrapRow.decode(failed.encode())).isEqualTo(failed);
    BootstrapRow ready = row(0, 8, 4711, null);
    assertThat(BootstrapRow.decode(ready.encode())).isEqualTo(ready);
  }

  @Test
  void shouldRefuseWhenTheFormatOrAFieldIsNotOurs() {
    String good = row(0, 8, 1, null).encode();
    for (String bad :
        List.of(
            "", "hello", good.replace("bootstrap/1", "bootstrap/2"), good.replace("pid=1", ""))) {
      assertThat(thrownBy(() -> BootstrapRow.decode(bad)).code()).isEqualTo(ErrorCode.PROTOCOL);
    }
  }

  @Test
  void shouldKeepTheSecretOutOfMessages() {
    assertThat(row(0, 8, 1, null).describe())
        .isEqualTo("task 0 (executor e0, host host-0, pid 1, GPU 10,11)");
  }

  @Test
  void shouldNameTheTaskWhenOneIsNotReady() {
    List<BootstrapRow> rows =
        List.of(row(0, 8, 1, null), row(1, 8, 2, new RowFailure(ErrorCode.INVALID_CONFIG, "x=y")));
    CollectiveException usage = thrownBy(() -> BarrierBootstrap.requireReady(rows, null));
    assertThat(usage.code()).isEqualTo(ErrorCode.INVALID_CONFIG);
    assertThat(usage)
        .hasMessage("task 1 (executor e1, host host-1, pid 2, GPU 10,11) is not ready: x=y");
  }

  @Test
  void shouldEndOnlyThePoisonedProcessWhenOneIsPoisoned() {
    RowFailure poisoned = new RowFailure(ErrorCode.PROCESS_POISONED, "unsafe");
    List<BootstrapRow> rows = List.of(row(0, 8, 1, null), row(1, 8, 2, poisoned));
    assertThat(thrownBy(() -> BarrierBootstrap.requireReady(rows, null)).code())
        .isEqualTo(ErrorCode.BOOTSTRAP_FAILED);
    CollectiveException own = new CollectiveException(ErrorCode.PROCESS_POISONED, "unsafe");
    assertThat(thrownBy(() -> BarrierBootstrap.requireReady(rows, own))).isSameAs(own);
  }

  @Test
  void shouldStateBothValuesWhenTasksDisagree() {
    CollectiveException worlds =
        thrownBy(
            () ->
                BarrierBootstrap.requireAgreement(List.of(row(0, 8, 1, null), row(1, 9, 2, null))));
    assertThat(worlds.code()).isEqualTo(ErrorCode.INVALID_WORLD);
    assertThat(worlds).hasMessage("task=1 world=9 != task=0 world=8");
    Versions newer = new Versions("1.0", 2, "17", "4.2.0");
    CollectiveException contracts =
        thrownBy(
            () ->
                BarrierBootstrap.requireAgreement(
                    List.of(row(0, 8, 1, null), row(1, 8, 2, newer, null))));
    assertThat(contracts).hasMessage("task=1 contract version=2 != task=0 contract version=1");
    Versions otherJava = new Versions("1.0", 1, "25", "4.2.0");
    BarrierBootstrap.requireAgreement(List.of(row(0, 8, 1, null), row(1, 8, 2, otherJava, null)));
  }

  @Test
  void shouldSayWhoLivesWhereWhenLoopbackCannotJoinSeveralProcesses() {
    List<BootstrapRow> rows = List.of(row(0, 8, 1, null), row(1, 8, 2, null));
    CollectiveException e = thrownBy(() -> GroupJoin.isTcp(rows, LOOPBACK));
    assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED);
    assertThat(e)
        .hasMessageContaining("task 0 (executor e0, host host-0, pid 1")
        .hasMessageContaining("task 1 (executor e1, host host-1, pid 2")
        .hasMessageContaining("transport=loopback joins tasks of one JVM");
    List<BootstrapRow> together = List.of(row(0, 8, 7, null), row(1, 8, 7, null));
    assertThat(GroupJoin.isTcp(together, LOOPBACK)).isFalse();
    assertThat(GroupJoin.isTcp(together, AUTO)).isFalse();
    assertThat(GroupJoin.isTcp(rows, AUTO)).isTrue();
  }

  @Test
  void shouldKnowItsOwnVersion() {
    assertThat(Versions.own().rankfold()).matches("\\d+\\.\\d+\\.\\d+.*");
  }
}
