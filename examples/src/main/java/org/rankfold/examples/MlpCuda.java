// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaKernel;
import org.rankfold.cuda.CudaModule;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.cuda.Nvrtc;
import org.rankfold.spark.train.DeviceModel;
import org.rankfold.spark.train.Score;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * An {@link Mlp} on a CUDA device, with the bits of {@link MlpBlock}: the layers by the kernels of
 * mlp.cu, which keep the order of operations that {@link Mlp} writes down; softmax and loss on the
 * host by {@link SoftmaxLoss}, so the last layer's sums come down and their gradients go up for
 * each stretch of rows. Only NaNs may have other bits, as everywhere in a device's arithmetic.
 */
final class MlpCuda implements DeviceModel<LabelledRow> {
  /** Rows that go together; it decides time and memory, never bits. */
  static final int ROWS = 512;

  private static final int THREADS = 128;

  /** For a stretch of rows, so generous. */
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  private final Mlp mlp;
  private final CudaStream stream;
  private final SoftmaxLoss loss;
  private final List<DeviceMemory> memories = new ArrayList<>();
  private final CudaModule module;
  private final CudaKernel forward;
  private final CudaKernel passDown;
  private final CudaKernel addGradient;
  private final DeviceView parameters;

  /** [level]: each row's outputs; level 0 has the features. */
  private final DeviceView[] activations;

  /** [level]: the loss gradient by each unit's sum; level 0 has none. */
  private final DeviceView[] deltas;

  private final float[] features;
  private final float[] top;

  MlpCuda(Mlp mlp, CudaStream stream) {
    this(mlp, stream, source());
  }

  /** With another source, for tests. */
  MlpCuda(Mlp mlp, CudaStream stream, String source) {
    this.mlp = mlp;
    this.stream = stream;
    loss = new SoftmaxLoss(mlp.classes());
    features = new float[Math.multiplyExact(ROWS, mlp.inputs())];
    top = new float[Math.multiplyExact(ROWS, mlp.classes())];
    activations = new DeviceView[mlp.layers() + 1];
    deltas = new DeviceView[mlp.layers() + 1];
    CudaDevice device = stream.device();
    List<String> options = Nvrtc.exactOptions(device.info().architecture());
    module = CudaModule.load(device, Nvrtc.cubin(source, "mlp.cu", options));
    boolean isWhole = false;
    try {
      forward = module.kernel("forward");
      passDown = module.kernel("passDown");
      addGradient = module.kernel("addGradient");
      parameters = allocate(mlp.parameterCount());
      for (int level = 0; level < activations.length; level++) {
        activations[level] = allocate((long) ROWS * mlp.units(level));
        deltas[level] = level == 0 ? null : allocate((long) ROWS * mlp.units(level));
      }
      isWhole = true;
    } finally {
      if (!isWhole) {
        close();
      }
    }
  }

  static String source() {
    try (InputStream bytes = MlpCuda.class.getResourceAsStream("mlp.cu")) {
      if (bytes == null) {
        throw new IllegalStateException("this jar lacks org/rankfold/examples/mlp.cu");
      }
      return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private DeviceView allocate(long floats) {
    DeviceMemory memory = DeviceMemory.allocate(stream.device(), floats * Float.BYTES);
    memories.add(memory);
    return memory.view(DType.F32);
  }

  @Override
  public void load(float[] newParameters) {
    mlp.requireLength("parameters", newParameters.length);
    stream.drain(TIMEOUT_NS);
    View.of(newParameters).copyTo(parameters);
  }

  @Override
  public Score gradientSum(List<LabelledRow> rows, DeviceView gradient) {
    mlp.requireLength("gradient", gradient.count());
    return pass(rows, gradient);
  }

  @Override
  public Score evaluate(List<LabelledRow> rows) {
    return pass(rows, null);
  }

  private Score pass(List<LabelledRow> rows, DeviceView gradientOrNull) {
    Score tally = Score.NONE;
    for (int from = 0; from < rows.size(); from += ROWS) {
      List<LabelledRow> some = rows.subList(from, Math.min(rows.size(), from + ROWS));
      upload(some);
      for (int layer = 0; layer < mlp.layers(); layer++) {
        long sums = (long) some.size() * mlp.units(layer + 1);
        launch(forward, sums, layer, some.size(), activations, null);
      }
      tally = lossesAfter(tally, some, gradientOrNull != null);
      if (gradientOrNull != null) {
        backward(some.size(), gradientOrNull);
      }
    }
    return tally;
  }

  /** Features to the device, once it is done with those before. */
  private void upload(List<LabelledRow> rows) {
    int inputs = mlp.inputs();
    for (int r = 0; r < rows.size(); r++) {
      mlp.requireFit(rows.get(r));
      System.arraycopy(rows.get(r).features(), 0, features, r * inputs, inputs);
    }
    int count = rows.size() * inputs;
    stream.drain(TIMEOUT_NS);
    View.of(features, 0, count).copyTo(activations[0].slice(0, count));
  }

  /** The last layer's sums to the host, and for a backward pass their gradients back. */
  private Score lossesAfter(Score before, List<LabelledRow> rows, boolean isTraining) {
    int classes = mlp.classes();
    View host = View.of(top, 0, rows.size() * classes);
    stream.drain(TIMEOUT_NS);
    activations[mlp.layers()].slice(0, host.count()).copyTo(host);
    Score tally = before;
    for (int r = 0; r < rows.size(); r++) {
      tally = loss.add(tally, rows.get(r).label(), top, r * classes, top, r * classes);
    }
    if (isTraining) {
      host.copyTo(deltas[mlp.layers()].slice(0, host.count()));
    }
    return tally;
  }

  private void backward(int rows, DeviceView gradient) {
    for (int layer = mlp.layers() - 1; layer >= 0; layer--) {
      long elements = (mlp.units(layer) + 1L) * mlp.units(layer + 1);
      launch(addGradient, elements, layer, rows, deltas, gradient);
      if (layer > 0) {
        launch(passDown, (long) rows * mlp.units(layer), layer, rows, deltas, null);
      }
    }
  }

  private void launch(
      CudaKernel kernel,
      long threads,
      int layer,
      int rows,
      DeviceView[] outputs,
      DeviceView gradientOrNull) {
    int in = mlp.units(layer);
    int out = mlp.units(layer + 1);
    int at = mlp.weightsAt(layer);
    int count = (in + 1) * out;
    MlpLaunch launch =
        new MlpLaunch(
            activations[layer],
            parameters.slice(at, count),
            outputs[layer + 1],
            deltas[layer],
            gradientOrNull == null ? null : gradientOrNull.slice(at, count),
            rows,
            in,
            out,
            layer + 1 < mlp.layers());
    int blocks = Math.toIntExact((threads + THREADS - 1) / THREADS);
    kernel.launch(blocks, 1, THREADS, launch.toBytes(), stream);
  }

  @Override
  public void close() {
    try {
      memories.forEach(DeviceMemory::close);
    } finally {
      module.close();
    }
  }
}
