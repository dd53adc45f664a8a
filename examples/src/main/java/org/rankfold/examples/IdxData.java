// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A folder of images and labels in MNIST's IDX files, gzip-packed or plain: MNIST itself,
 * Fashion-MNIST and their kin.
 *
 * <p>A pixel of 0 .. 255 becomes the float nearest to that number divided by 255. A row's id is its
 * position in its file. Every error names the file and the values that do not fit.
 */
public final class IdxData {
  /** Where Debian's package {@code dataset-fashion-mnist} puts its files. */
  public static final Path FASHION_FOLDER = Path.of("/usr/share/datasets/fashion-mnist");

  /** Number of classes; a label at or above it is refused. */
  public static final int CLASSES = 10;

  private static final int BRIGHTEST = 255;

  private final Path folder;

  /**
   * Names a folder; nothing is opened yet.
   *
   * @param folder the folder that holds the four files
   */
  public IdxData(Path folder) {
    this.folder = folder;
  }

  /**
   * Reads the training part: {@code train-images-idx3-ubyte} and {@code train-labels-idx1-ubyte},
   * each with or without {@code .gz}.
   *
   * @return the rows in the order of the file
   * @throws IOException if a file is missing or damaged, or the two do not fit together
   */
  public List<LabelledRow> readTraining() throws IOException {
    return read("train");
  }

  /**
   * Reads the test part: {@code t10k-images-idx3-ubyte} and {@code t10k-labels-idx1-ubyte}, each
   * with or without {@code .gz}.
   *
   * @return the rows in the order of the file
   * @throws IOException if a file is missing or damaged, or the two do not fit together
   */
  public List<LabelledRow> readTest() throws IOException {
    return read("t10k");
  }

  private List<LabelledRow> read(String part) throws IOException {
    IdxFile images = IdxFile.read(existing(part + "-images-idx3-ubyte"), 3);
    IdxFile labels = IdxFile.read(existing(part + "-labels-idx1-ubyte"), 1);
    if (images.items() != labels.items()) {
      throw new IOException(
          images.file()
              + " images="
              + images.items()
              + " != "
              + labels.file()
              + " labels="
              + labels.items());
    }
    float[] scaled = new float[BRIGHTEST + 1];
    for (int v = 0; v <= BRIGHTEST; v++) {
      scaled[v] = (float) v / BRIGHTEST;
    }
    List<LabelledRow> rows = new ArrayList<>(images.items());
    for (int r = 0; r < images.items(); r++) {
      byte[] pixels = images.item(r);
      float[] features = new float[pixels.length];
      for (int p = 0; p < pixels.length; p++) {
        features[p] = scaled[Byte.toUnsignedInt(pixels[p])];
      }
      int label = Byte.toUnsignedInt(labels.item(r)[0]);
      if (label >= CLASSES) {
        throw new IOException(
            labels.file() + ": label=" + label + " of row " + r + " >= classes=" + CLASSES);
      }
      rows.add(new LabelledRow(r, features, label));
    }
    return rows;
  }

  private Path existing(String name) throws IOException {
    Path packed = folder.resolve(name + ".gz");
    Path plain = folder.resolve(name);
    if (Files.isRegularFile(packed)) {
      return packed;
    }
    if (Files.isRegularFile(plain)) {
      return plain;
    }
    throw new NoSuchFileException(
        plain.toString(),
        null,
        "neither it nor "
            + packed.getFileName()
            + " is there; install Debian's package dataset-fashion-mnist (apt-get install dataset-fashion-mnist)"
            + " or name a folder with Fashion-MNIST's four IDX files by --data DIR");
  }
}
