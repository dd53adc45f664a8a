// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DigitsDataTest {
  private static final String ZEROS = "0,".repeat(DigitsData.PIXELS);

  @Test
  void shouldReadEveryRowWhenShippedFileIsUsed() {
    List<LabelledRow> rows = DigitsData.read();
    assertEquals(1797, rows.size());
    int[] labels = new int[DigitsData.CLASSES];
    for (int r = 0; r < rows.size(); r++) {
      LabelledRow row = rows.get(r);
      assertEquals(r, row.id());
      assertEquals(64, row.features().length);
      for (float pixel : row.features()) {
        assertTrue(pixel >= 0 && pixel <= 1, "row " + r + " pixel=" + pixel);
      }
      labels[row.label()]++;
    }
    // Counts of the digits 0 .. 9 as the data set's description has them for its test part.
    assertEquals(
        List.of(178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
        java.util.Arrays.stream(labels).boxed().toList());
    assertEquals(5 / 16f, rows.get(0).features()[2]);
    assertEquals(8, rows.get(1796).label());
  }

  @Test
  void shouldHoldOutEveryFifthRowWhenAsked() {
    assertEquals(359, DigitsData.read().stream().filter(r -> DigitsData.isHeldOut(r.id())).count());
    assertTrue(DigitsData.isHeldOut(4) && DigitsData.isHeldOut(1794) && !DigitsData.isHeldOut(0));
  }

  @Test
  void shouldNameTheLineWhenItDoesNotFit() {
    assertMessage("f line 2: fields=3 != 65", ZEROS + "1\n1,2,3\n");
    assertMessage("f line 1: field 1=17 is not in 0 .. 16", "17," + ZEROS.substring(2) + "1\n");
    assertMessage("f line 1: field 65=10 is not in 0 .. 9", ZEROS + "10\n");
    assertMessage("f line 1: field 65='x' is not a whole number", ZEROS + "x\n");
    assertMessage("f line 1: field 65=-1 is not in 0 .. 9", ZEROS + "-1\n");
  }

  private static void assertMessage(String message, String text) {
    IOException e =
        assertThrows(IOException.class, () -> DigitsData.parse("f", new StringReader(text)));
    assertEquals(message, e.getMessage());
  }
}
