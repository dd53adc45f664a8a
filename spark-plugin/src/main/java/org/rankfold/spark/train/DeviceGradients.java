// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Gradients in a device's memory, by the model's device half, on one stream. Collectives get them
 * where they are; the folded sum alone comes to the host, for the optimizer.
 */
final class DeviceGradients<R> implements Gradients<R> {
  /** For one step of one task, so generous. */
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  private static final byte ZERO = 0;

  private final CudaStream stream;
  private final List<DeviceMemory> memories = new ArrayList<>();
  private final List<DeviceView> gradients = new ArrayList<>();
  private final DeviceModel<R> model;
  private final float[] first;

  /** Allocates all of it; frees it again when something is refused. */
  DeviceGradients(GradientModel<R> host, CudaDevice device, int ranks) {
    first = new float[host.parameterCount()];
    stream = CudaStream.create(device);
    DeviceModel<R> made = null;
    try {
      for (int rank = 0; rank < ranks; rank++) {
        memories.add(DeviceMemory.allocate(device, (long) first.length * Float.BYTES));
        gradients.add(memories.get(rank).view(DType.F32));
      }
      made = host.on(stream);
    } finally {
      if (made == null) {
        free();
      }
    }
    model = made;
  }

  @Override
  public void use(float[] parameters) {
    model.load(parameters);
  }

  @Override
  public void clear(int rank) {
    memories.get(rank).fill(ZERO, stream);
  }

  @Override
  public Score add(int rank, List<R> rows) {
    return model.gradientSum(rows, gradients.get(rank));
  }

  @Override
  public Score evaluate(List<R> rows) {
    return model.evaluate(rows);
  }

  @Override
  public List<View> views() {
    stream.drain(TIMEOUT_NS);
    return List.copyOf(gradients);
  }

  @Override
  public float[] first() {
    gradients.get(0).copyTo(View.of(first));
    return first;
  }

  /** Frees the memory once the device is done with it; where it is not, leaves it alone. */
  @Override
  public void close() {
    stream.drain(TIMEOUT_NS);
    try {
      model.close();
    } finally {
      free();
    }
  }

  private void free() {
    try {
      memories.forEach(DeviceMemory::close);
    } finally {
      stream.close();
    }
  }
}
