// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * The UCI optical digits that ship with the examples: 1,797 images of 8x8 pixels in ten classes
 * (source and licence in {@code data/README.md} beside the file).
 *
 * <p>A pixel of 0 .. 16 becomes that number divided by 16, exact in float. A row's id is its
 * position in the file; ids 4, 9, 14, ... (id mod 5 = 4) are held out: 359 rows to test with, 1,438
 * to train on.
 */
public final class DigitsData {
  /** Inputs of a row: 8x8 pixels, the first row of pixels first. */
  public static final int PIXELS = 64;

  /** Number of classes. */
  public static final int CLASSES = 10;

  /** Number of rows in the file. */
  public static final int ROWS = 1797;

  private static final String RESOURCE = "data/digits.csv.gz";
  private static final int DARKEST = 16;

  private DigitsData() {}

  /**
   * Says whether a row is kept away from training.
   *
   * @param id the row's position in the file
   * @return true for every fifth row
   */
  public static boolean isHeldOut(long id) {
    return id % 5 == 4;
  }

  /**
   * Reads all rows from the class path, in the order of the file.
   *
   * @return 1,797 rows, ids 0 .. 1,796
   * @throws UncheckedIOException if the resource is missing or damaged
   */
  public static List<LabelledRow> read() {
    try (InputStream in = DigitsData.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IOException(
            RESOURCE + " is not on the class path beside " + DigitsData.class.getName());
      }
      List<LabelledRow> rows =
          parse(
              RESOURCE, new InputStreamReader(new GZIPInputStream(in), StandardCharsets.US_ASCII));
      if (rows.size() != ROWS) {
        throw new IOException(RESOURCE + ": rows=" + rows.size() + " != " + ROWS);
      }
      return rows;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Parses lines of 64 pixels and a label; the first line is line 1 in errors and row 0 in ids. */
  static List<LabelledRow> parse(String name, Reader text) throws IOException {
    List<LabelledRow> rows = new ArrayList<>(ROWS);
    BufferedReader lines = new BufferedReader(text);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String where = name + " line " + (rows.size() + 1);
      String[] fields = line.split(",", -1);
      if (fields.length != PIXELS + 1) {
        throw new IOException(where + ": fields=" + fields.length + " != " + (PIXELS + 1));
      }
      float[] features = new float[PIXELS];
      for (int p = 0; p < PIXELS; p++) {
        features[p] = (float) wholeNumber(where, fields, p, DARKEST) / DARKEST;
      }
      int label = wholeNumber(where, fields, PIXELS, CLASSES - 1);
      rows.add(new LabelledRow(rows.size(), features, label));
    }
    return rows;
  }

  private static int wholeNumber(String where, String[] fields, int index, int largest)
      throws IOException {
    int value;
    try {
      value = Integer.parseInt(fields[index]);
    } catch (NumberFormatException e) {
      throw new IOException(
          where + ": field " + (index + 1) + "='" + fields[index] + "' is not a whole number", e);
    }
    if (value < 0 || value > largest) {
      throw new IOException(
          where + ": field " + (index + 1) + "=" + value + " is not in 0 .. " + largest);
    }
    return value;
  }
}
