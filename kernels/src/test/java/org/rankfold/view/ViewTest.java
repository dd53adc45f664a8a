// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.contract.DType;

class ViewTest {
  private static final int COUNT = 37;

  /** Views of one type in every sort of place: whole, at an offset, unaligned. */
  private static List<View> places(DType dtype) {
    List<View> views = new ArrayList<>();
    for (int offset : new int[] {0, 3}) {
      int length = COUNT + offset + 2;
      views.add(
          switch (dtype) {
            case F32 -> View.of(new float[length], offset, COUNT);
            case F64 -> View.of(new double[length], offset, COUNT);
            case F16, BF16 -> View.of(new short[length], dtype, offset, COUNT);
            case I32 -> View.of(new int[length], offset, COUNT);
            case I64 -> View.of(new long[length], offset, COUNT);
          });
    }
    for (int byteOffset : new int[] {0, 1, 8}) {
      int bytes = COUNT * dtype.bytes();
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes + byteOffset + 5);
      views.add(View.of(buffer.position(byteOffset).limit(byteOffset + bytes), dtype));
    }
    return views;
  }

  /** A signalling NaN in f32 and f64, and all sorts of bits. */
  private static long bits(DType dtype, long i) {
    long pattern =
        switch (dtype) {
          case F32 -> 0x7f800001L + i * 0x01010101L;
          case F64, I64 -> 0x7ff0000000000001L + i * 0x0101010101010101L;
          case F16, BF16 -> 0x7c01L + i * 0x0101L;
          case I32 -> 0x80000000L + i;
        };
    return dtype.bytes() == 8 ? pattern : pattern & ((1L << (8 * dtype.bytes())) - 1);
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void shouldCopyEveryBitBetweenAllKinds(DType dtype) {
    for (View from : places(dtype)) {
      for (View to : places(dtype)) {
        for (long i = 0; i < COUNT; i++) {
          RawBits.write(from, i, bits(dtype, i));
        }
        from.copyTo(to);
        for (long i = 0; i < COUNT; i++) {
          assertThat(RawBits.read(to, i))
              .as("%s to %s at %d", from, to, i)
              .isEqualTo(bits(dtype, i));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void shouldSliceOverTheSameMemory(DType dtype) {
    for (View whole : places(dtype)) {
      View slice = whole.slice(5, 10).slice(2, 4);
      RawBits.write(slice, 3, 0x12);
      assertThat(RawBits.read(whole, 10)).isEqualTo(0x12);
      assertThat(slice.count()).isEqualTo(4);
      assertThat(slice.byteCount()).isEqualTo(4L * dtype.bytes());
      assertThat(slice.dtype()).isEqualTo(dtype);
      assertThat(whole.slice(COUNT, 0).count()).isZero();
      assertThatThrownBy(() -> whole.slice(COUNT - 1, 2))
          .hasMessage("slice from=36 count=2 is not inside count=37");
      assertThatThrownBy(() -> whole.slice(-1, 2)).hasMessageContaining("from=-1");
      assertThatThrownBy(() -> whole.slice(1, Long.MAX_VALUE)).hasMessageContaining("count=37");
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void shouldTellSharedMemory(DType dtype) {
    List<View> places = places(dtype);
    for (View whole : places) {
      assertThat(whole.overlaps(whole)).isTrue();
      assertThat(whole.isSameStretchAs(whole.slice(0, COUNT))).isTrue();
      assertThat(whole.isSameStretchAs(whole.slice(0, COUNT - 1))).isFalse();
      assertThat(whole.slice(0, 5).overlaps(whole.slice(4, 5))).isTrue();
      assertThat(whole.slice(0, 5).overlaps(whole.slice(5, 5))).isFalse();
      assertThat(whole.slice(3, 0).overlaps(whole)).isFalse();
      for (View other : places) {
        assertThat(whole.overlaps(other)).isEqualTo(whole == other);
        assertThat(whole.isSameStretchAs(other)).isEqualTo(whole == other);
      }
    }
  }

  @Test
  void shouldTellSharedDirectMemoryOfTwoBuffersAndTypes() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(64);
    View floats = View.of(buffer, DType.F32);
    View doubles = View.of(buffer.duplicate().position(60).limit(60), DType.F64);
    View ints = View.of(buffer.duplicate().position(32), DType.I32);
    assertThat(floats.overlaps(ints)).isTrue();
    assertThat(floats.overlaps(doubles)).isFalse();
    assertThat(floats.isSameStretchAs(View.of(buffer.duplicate(), DType.I32))).isFalse();
    assertThat(floats.isSameStretchAs(View.of(buffer.duplicate(), DType.F32))).isTrue();
  }

  @Test
  void shouldBeLittleEndianWhateverTheBuffersOrder() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(8).order(ByteOrder.BIG_ENDIAN);
    View view = View.of(buffer, DType.I32);
    RawBits.write(view, 1, 0x01020304);
    assertThat(buffer.get(4)).isEqualTo((byte) 4);
    assertThat(buffer.get(7)).isEqualTo((byte) 1);
  }

  @Test
  void shouldRefuseWhatIsNoView() {
    assertThatThrownBy(() -> View.of(ByteBuffer.allocate(8), DType.F32))
        .hasMessageContaining("direct=false");
    assertThatThrownBy(() -> View.of(ByteBuffer.allocateDirect(8).asReadOnlyBuffer(), DType.F32))
        .hasMessageContaining("readOnly=true");
    assertThatThrownBy(() -> View.of(ByteBuffer.allocateDirect(7), DType.F32))
        .hasMessage("remaining=7 bytes is no multiple of 4 (f32)");
    assertThatThrownBy(() -> View.of(new float[3], 2, 2))
        .hasMessage("view from=2 count=2 is not inside length=3");
    assertThatThrownBy(() -> View.of(new short[3], DType.I32))
        .hasMessage("dtype=i32 does not fit an array of short");
    assertThatThrownBy(() -> View.of(new float[3]).copyTo(View.of(new float[4])))
        .hasMessage("source f32 x 3 != destination f32 x 4");
  }
}
