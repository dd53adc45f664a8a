// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * What a task brings home: all of it on the task of logical rank 0, digest and counts on the others
 * (their parameters are an empty array). It travels as bytes that Java wrote, because Spark's Kryo
 * cannot write records.
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier between a task and the driver
record TrainingOutcome(
    float[] parameters, String sha256, long rows, long steps, List<EpochReport> epochs)
    implements Serializable {
  byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(this);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static TrainingOutcome ofBytes(byte[] bytes) {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return (TrainingOutcome) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("a task's classes are the driver's", e);
    }
  }
}
