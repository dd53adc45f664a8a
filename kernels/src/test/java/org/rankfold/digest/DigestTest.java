// SPDX-License-Identifier: Apache-2.0
package org.rankfold.digest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.contract.DType;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

class DigestTest {
  @Test
  void shouldBeTheSha256OfNothingAndOfLittleEndianBytes() {
    assertThat(new BitDigest().hex())
        .isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assertThat(BitDigest.of(View.of(new int[] {0x04030201})))
        .isEqualTo("9f64a747e1b97f131fabb6b447296c9b6f0201e79fb3c5356e6c77e89b6a806a");
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void shouldNotDependOnWhereElementsLieNorOnTheirPieces(DType dtype) {
    int n = 20_011;
    ByteBuffer bytes = ByteBuffer.allocateDirect(n * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    View direct = View.of(bytes, dtype);
    OracleInputs.fill(direct, InputKind.BITS, 1, 0, 0);
    View heap =
        switch (dtype) {
          case F32 -> View.of(new float[n]);
          case F64 -> View.of(new double[n]);
          case F16, BF16 -> View.of(new short[n], dtype);
          case I32 -> View.of(new int[n]);
          case I64 -> View.of(new long[n]);
        };
    direct.copyTo(heap);
    String whole = BitDigest.of(direct);
    assertThat(BitDigest.of(heap)).isEqualTo(whole);
    assertThat(
            new BitDigest()
                .update(heap.slice(0, 1))
                .update(direct.slice(1, 9_000))
                .update(heap.slice(9_001, n - 9_001))
                .hex())
        .isEqualTo(whole);
    RawBits.write(heap, n - 1, RawBits.read(heap, n - 1) ^ 1);
    assertThat(BitDigest.of(heap)).isNotEqualTo(whole);
  }

  @Test
  void shouldMakeAnyPartOfAnInputAlone() {
    float[] whole = new float[100];
    float[] part = new float[30];
    OracleInputs.fill(View.of(whole), InputKind.SPREAD, 42, 3, 0);
    OracleInputs.fill(View.of(part), InputKind.SPREAD, 42, 3, 50);
    assertThat(part).isEqualTo(java.util.Arrays.copyOfRange(whole, 50, 80));
  }

  @Test
  void shouldRefuseIntegersOfAnotherKindThanBits() {
    assertThatThrownBy(() -> OracleInputs.fill(View.of(new int[1]), InputKind.EDGE, 1, 0, 0))
        .hasMessage("kind=edge is not defined for dtype=i32: integers are made from bits");
  }

  @Test
  void shouldReadTablesAndRefuseMalformedOnes(@TempDir Path dir) throws Exception {
    List<GoldenRow> builtIn = GoldenTable.builtIn();
    assertThat(builtIn).hasSize(732);
    assertThat(builtIn.get(0).describe())
        .isEqualTo("dtype=f32 op=sum order=left kind=spread world=1 n=0 seed=42");
    String row = "f64\tmean\ttree\tedge\t3\t10\t18446744073709551615\tabc";
    Path file = Files.writeString(dir.resolve("t.tsv"), GoldenRow.HEADER + "\n" + row + "\n");
    assertThat(GoldenTable.read(file)).containsExactly(GoldenRow.parse(row));
    assertThat(GoldenRow.parse(row).seed()).isEqualTo(-1);
    assertThatThrownBy(() -> GoldenRow.parse("f64\tmean"))
        .hasMessage("columns=2 != 8 in: f64\tmean");
    assertThatThrownBy(() -> GoldenRow.parse(row.replace("\t10\t", "\tten\t")))
        .hasMessageStartingWith("world, n or seed is not a number in: ");
    assertThatThrownBy(() -> InputKind.ofLabel("odd"))
        .hasMessage("kind=odd is none of: uniform, spread, bits, edge, cancel");
    Path headless = Files.writeString(dir.resolve("h.tsv"), row + "\n");
    assertThatThrownBy(() -> GoldenTable.read(headless)).hasMessageStartingWith("header '");
  }
}
