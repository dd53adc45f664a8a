// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Folds;

class DeviceViewTest {
  private final RecordingPort port = new RecordingPort();
  private final DeviceView view = DeviceView.of(port, 1000, DType.F32, 10);

  @Test
  void shouldAddressElementsWhenSliced() {
    DeviceView part = view.slice(3, 4);
    assertThat(part.address()).isEqualTo(1012);
    assertThat(part.count()).isEqualTo(4);
    assertThat(DeviceView.of(port, 8, DType.F16, 1L << 40).slice(1L << 39, 7).address())
        .isEqualTo(8 + (1L << 40));
  }

  @Test
  void shouldCompareAddressesWhenAskedForOverlap() {
    assertThat(view.overlaps(DeviceView.of(port, 1039, DType.F16, 1))).isTrue();
    assertThat(view.overlaps(DeviceView.of(port, 1040, DType.F16, 1))).isFalse();
    assertThat(view.overlaps(DeviceView.of(port, 1000, DType.F16, 0))).isFalse();
    assertThat(view.overlaps(View.of(new float[10]))).isFalse();
    assertThat(view.isSameStretchAs(DeviceView.of(port, 1000, DType.F32, 10))).isTrue();
    assertThat(view.isSameStretchAs(DeviceView.of(port, 1000, DType.I32, 10))).isFalse();
  }

  @Test
  void shouldGoThroughThePortWhenCopied() {
    View host = View.of(new float[10]);
    view.copyTo(host);
    host.copyTo(view);
    view.copyTo(DeviceView.of(port, 5000, DType.F32, 10));
    view.copyTo(view);
    assertThat(port.calls).containsExactly("read", "write", "copy");
  }

  @Test
  void shouldBeRefusedWhenHostCodeWantsItsElements() {
    assertUnsupported(() -> RawBits.read(view, 0));
    assertUnsupported(() -> RawBits.write(view, 0, 1));
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 1);
    View[] host = {View.of(new float[10])};
    for (String fold : List.of("scalar", "lane-plain")) {
      assertUnsupported(() -> Folds.named(fold).fold(contract, new View[] {view}, host));
      assertUnsupported(() -> Folds.named(fold).fold(contract, host, new View[] {view}));
    }
  }

  @Test
  void shouldBeRefusedWhenItHasElementsButNoAddress() {
    assertThat(DeviceView.of(port, 0, DType.I64, 0).count()).isZero();
    assertThatThrownBy(() -> DeviceView.of(port, 0, DType.I64, 1))
        .isInstanceOf(CollectiveException.class)
        .hasMessage("count=1 at device address 0");
  }

  private static void assertUnsupported(Runnable use) {
    assertThatThrownBy(use::run)
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
        .hasMessageContaining("f32 x 10 (recorder)");
  }

  /** Notes which copies were asked of it. */
  private static final class RecordingPort implements DevicePort {
    private final List<String> calls = new ArrayList<>();

    @Override
    public String name() {
      return "recorder";
    }

    @Override
    public void read(DeviceView device, View host) {
      calls.add("read");
    }

    @Override
    public void write(View host, DeviceView device) {
      calls.add("write");
    }

    @Override
    public void copy(DeviceView from, DeviceView to) {
      calls.add("copy");
    }
  }
}
