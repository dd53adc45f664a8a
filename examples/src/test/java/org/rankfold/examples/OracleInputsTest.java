// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.rankfold.examples.OracleInputs.Kind;

final class OracleInputsTest {
  @Test
  void shouldReachEveryGoldenDigestWhenFoldedNaively() throws IOException {
    List<String> wrong = new ArrayList<>();
    int rows = 0;
    try (BufferedReader table =
        new BufferedReader(
            new InputStreamReader(
                OracleInputsTest.class.getResourceAsStream("golden.tsv"),
                StandardCharsets.US_ASCII))) {
      assertEquals("dtype\top\torder\tkind\tworld\tn\tseed\tsha256", table.readLine());
      for (String line = table.readLine(); line != null; line = table.readLine()) {
        String[] row = line.split("\t", -1);
        OracleInputs inputs = new OracleInputs(kind(row[3]), Long.parseLong(row[6]));
        NaiveReduction reduction =
            new NaiveReduction(row[0], row[1], row[2].equals("tree"), Integer.parseInt(row[4]));
        if (!reduction.sha256(inputs, Integer.parseInt(row[5])).equals(row[7])) {
          wrong.add(line);
        }
        rows++;
      }
    }
    assertEquals(732, rows);
    assertEquals(List.of(), wrong);
  }

  @Test
  void shouldMakeTheSameElementsWhenAskedInParts() {
    for (Kind kind : Kind.values()) {
      OracleInputs inputs = new OracleInputs(kind, 42);
      short[] halves = inputs.f16(4, 0, 100);
      assertArrayEquals(Arrays.copyOfRange(halves, 60, 100), inputs.f16(4, 60, 40));
      short[] brains = inputs.bf16(4, 0, 100);
      assertArrayEquals(Arrays.copyOfRange(brains, 60, 100), inputs.bf16(4, 60, 40));
      assertEquals(
          Float.floatToRawIntBits(inputs.f32(4, 0, 100)[99]),
          Float.floatToRawIntBits(inputs.f32(4, 99, 1)[0]));
      assertEquals(
          Double.doubleToRawLongBits(inputs.f64(4, 0, 100)[99]),
          Double.doubleToRawLongBits(inputs.f64(4, 99, 1)[0]));
    }
    OracleInputs bits = new OracleInputs(Kind.BITS, 42);
    assertEquals(bits.i32(4, 0, 100)[99], bits.i32(4, 99, 1)[0]);
    assertEquals(bits.i64(4, 0, 100)[99], bits.i64(4, 99, 1)[0]);
    assertEquals((int) bits.i64(4, 99, 1)[0], bits.i32(4, 99, 1)[0]);
  }

  @Test
  void shouldReachFarElementsWhenIndexPassesInt() {
    OracleInputs inputs = new OracleInputs(Kind.BITS, 1);
    long far = 1L << 33;
    assertEquals(inputs.i64(0, far, 2)[1], inputs.i64(0, far + 1, 1)[0]);
    assertArrayEquals(new int[0], inputs.i32(0, far, 0));
  }

  @Test
  void shouldRefuseWhenArgumentsDoNotFit() {
    OracleInputs spread = new OracleInputs(Kind.SPREAD, 1);
    assertThrows(IllegalArgumentException.class, () -> spread.i32(0, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> spread.i64(0, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> spread.f32(-1, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> spread.f32(0, -1, 1));
    assertThrows(IllegalArgumentException.class, () -> spread.f32(0, 0, -1));
  }

  private static Kind kind(String label) {
    return Kind.valueOf(label.toUpperCase(Locale.ROOT));
  }
}
