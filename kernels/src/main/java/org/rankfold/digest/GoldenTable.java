// SPDX-License-Identifier: Apache-2.0
package org.rankfold.digest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Tables of known answers, and the one of 732 rows that travels with this jar. */
public final class GoldenTable {
  private GoldenTable() {}

  /**
   * The table of an independent oracle, the same in every build.
   *
   * @return 732 rows in the table's order
   */
  public static List<GoldenRow> builtIn() {
    try (InputStream bytes = GoldenTable.class.getResourceAsStream("golden.tsv")) {
      if (bytes == null) {
        throw new IllegalStateException("this jar lacks org/rankfold/digest/golden.tsv");
      }
      return parse(new BufferedReader(new InputStreamReader(bytes, StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A table in a file.
   *
   * @param file UTF-8, {@link GoldenRow#HEADER} first
   * @return its rows in order
   * @throws CollectiveException INVALID_ARGUMENT when the header or a row is malformed
   * @throws UncheckedIOException when the file cannot be read
   */
  public static List<GoldenRow> read(Path file) {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      return parse(lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<GoldenRow> parse(BufferedReader lines) throws IOException {
    String header = lines.readLine();
    if (!GoldenRow.HEADER.equals(header)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "header '%s' != '%s'", header, GoldenRow.HEADER);
    }
    return lines.lines().filter(line -> !line.isBlank()).map(GoldenRow::parse).toList();
  }
}
