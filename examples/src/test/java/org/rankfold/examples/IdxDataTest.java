// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

final class IdxDataTest {
  private static final String IMAGES = "train-images-idx3-ubyte";
  private static final String LABELS = "train-labels-idx1-ubyte";

  @TempDir Path folder;

  @BeforeEach
  void writeThreeSoundImages() throws IOException {
    write(IMAGES, idx(new int[] {2051, 3, 1, 2}, 0, 255, 51, 1, 2, 3));
    write(LABELS, idx(new int[] {2049, 3}, 9, 0, 4));
  }

  @Test
  void shouldReadRowsWhenFilesArePlainOrPacked() throws IOException {
    assertSound(new IdxData(folder).readTraining());

    write(LABELS + ".gz", packed(idx(new int[] {2049, 3}, 9, 0, 4)));
    Files.delete(folder.resolve(LABELS));
    assertSound(new IdxData(folder).readTraining());

    write("t10k-images-idx3-ubyte.gz", packed(idx(new int[] {2051, 0, 28, 28})));
    write("t10k-labels-idx1-ubyte", idx(new int[] {2049, 0}));
    assertEquals(List.of(), new IdxData(folder).readTest());
  }

  @Test
  void shouldNameThePackageWhenAFileIsMissing() {
    String message = message(() -> new IdxData(folder).readTest());
    assertTrue(message.contains("t10k-images-idx3-ubyte"), message);
    assertTrue(message.contains("dataset-fashion-mnist"), message);
    assertTrue(message.contains("--data DIR"), message);
  }

  @Test
  void shouldRefuseImagesWhenHeaderIsWrong() throws IOException {
    assertImages("magic=2049 != 2051", idx(new int[] {2049, 3, 1, 2}, 1, 2, 3, 4, 5, 6));
    assertImages("size=-3 of dimension 0 in [-3, 1, 2]", idx(new int[] {2051, -3, 1, 2}));
    assertImages("size=0 of dimension 2 in [3, 1, 0]", idx(new int[] {2051, 3, 1, 0}));
    assertImages("more than 1048576 bytes", idx(new int[] {2051, 1, 1 << 20, 1 << 20}, 1));
    assertImages("ends inside its header", idx(new int[] {2051, 3}));
    assertImages("ends inside its header", new byte[0]);
  }

  @Test
  void shouldRefuseImagesWhenLengthIsWrong() throws IOException {
    assertImages(
        "bytes=5 < 6 that sizes=[3, 1, 2] say", idx(new int[] {2051, 3, 1, 2}, 1, 2, 3, 4, 5));
    assertImages(
        "more than the bytes=6 that sizes=[3, 1, 2] say",
        idx(new int[] {2051, 3, 1, 2}, 1, 2, 3, 4, 5, 6, 7));
    assertImages("bytes=2 < 1683627179248", idx(new int[] {2051, Integer.MAX_VALUE, 28, 28}, 1, 2));
  }

  @Test
  void shouldRefuseLabelsWhenTheyDoNotFitTheImages() throws IOException {
    write(LABELS, idx(new int[] {2049, 2}, 1, 2));
    String counts = message(() -> new IdxData(folder).readTraining());
    assertTrue(counts.contains("images=3 != ") && counts.contains("labels=2"), counts);

    write(LABELS, idx(new int[] {2049, 3}, 1, 10, 2));
    String label = message(() -> new IdxData(folder).readTraining());
    assertTrue(label.contains(LABELS + ": label=10 of row 1 >= classes=10"), label);
  }

  @Test
  void shouldRefuseFileWhenItsGzipIsDamaged() throws IOException {
    Files.delete(folder.resolve(IMAGES));
    byte[] sound = packed(idx(new int[] {2051, 3, 1, 2}, 1, 2, 3, 4, 5, 6));
    write(IMAGES + ".gz", Arrays.copyOf(sound, sound.length - 12));
    assertTrue(message(() -> new IdxData(folder).readTraining()).contains(IMAGES + ".gz: ends"));
    write(IMAGES + ".gz", new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    String message = message(() -> new IdxData(folder).readTraining());
    assertTrue(message.contains(IMAGES + ".gz: not sound gzip"), message);
  }

  private static void assertSound(List<LabelledRow> rows) {
    assertEquals(3, rows.size());
    assertEquals(List.of(9, 0, 4), rows.stream().map(LabelledRow::label).toList());
    assertEquals(List.of(0L, 1L, 2L), rows.stream().map(LabelledRow::id).toList());
    assertEquals("[0.0, 1.0]", Arrays.toString(rows.get(0).features()));
    assertEquals("[0.2, 0.003921569]", Arrays.toString(rows.get(1).features()));
  }

  private void assertImages(String part, byte[] content) throws IOException {
    write(IMAGES, content);
    String message = message(() -> new IdxData(folder).readTraining());
    assertTrue(message.contains(IMAGES) && message.contains(part), message);
  }

  private static String message(Executable act) {
    return assertThrows(IOException.class, act).getMessage();
  }

  private void write(String name, byte[] content) throws IOException {
    Files.write(folder.resolve(name), content);
  }

  private static byte[] idx(int[] header, int... values) {
    ByteBuffer bytes = ByteBuffer.allocate(header.length * Integer.BYTES + values.length);
    for (int word : header) {
      bytes.putInt(word);
    }
    for (int value : values) {
      bytes.put((byte) value);
    }
    return bytes.array();
  }

  private static byte[] packed(byte[] content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(bytes)) {
      out.write(content);
    }
    return bytes.toByteArray();
  }
}
