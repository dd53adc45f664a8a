// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * The rows of one logical rank, in the order of their keys however they arrived. Rows with equal
 * keys have no order: they are refused unless they serialize to equal bytes, when it cannot matter.
 */
final class RankShare<R> {
  private final List<KeyedRow<R>> arrived = new ArrayList<>();

  void add(KeyedRow<R> row) {
    arrived.add(row);
  }

  /** The rows by key; afterwards this share is empty. */
  List<R> sorted() {
    arrived.sort(Comparator.comparing(KeyedRow::key));
    for (int i = 1; i < arrived.size(); i++) {
      KeyedRow<R> left = arrived.get(i - 1);
      KeyedRow<R> right = arrived.get(i);
      if (left.key().equals(right.key()) && !sameContent(left.row(), right.row())) {
        throw CollectiveException.usage(
            ErrorCode.UNORDERED_DATA,
            "key %s belongs to two different rows: %s and %s; give a key that tells them apart"
                + " (logical rank %d)",
            left.key(),
            shortened(left.row()),
            shortened(right.row()),
            left.rank());
      }
    }
    List<R> rows = new ArrayList<>(arrived.size());
    arrived.forEach(keyed -> rows.add(keyed.row()));
    arrived.clear();
    return rows;
  }

  private static boolean sameContent(Object left, Object right) {
    try {
      return Arrays.equals(serialized(left), serialized(right));
    } catch (IOException e) {
      return false;
    }
  }

  private static byte[] serialized(Object row) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(row);
    }
    return bytes.toByteArray();
  }

  private static String shortened(Object row) {
    String text = String.valueOf(row);
    return text.length() <= 80 ? text : text.substring(0, 77) + "...";
  }
}
