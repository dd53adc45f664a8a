// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.PrintWriter;
import java.util.Locale;
import org.rankfold.config.ConfigKeys;
import org.rankfold.spark.train.AdamW;
import org.rankfold.spark.train.ComputeDevice;
import org.rankfold.spark.train.EpochReport;
import org.rankfold.spark.train.KeyedRows;
import org.rankfold.spark.train.TrainedModel;
import org.rankfold.spark.train.Trainer;
import picocli.CommandLine.Option;

/** The options that all training jobs share, and what they print. */
final class TrainingRun {
  @Option(
      names = "--world",
      defaultValue = "8",
      description = "Logical ranks; the bits depend on it (default: ${DEFAULT-VALUE}).")
  private int world;

  @Option(
      names = "--seed",
      defaultValue = "42",
      description =
          "What parameters and the order of rows are drawn from (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--epochs", description = "How often every row is visited (default: the job's).")
  private Integer epochs;

  @Option(names = "--batch", description = "Rows of a step (default: the job's).")
  private Integer batch;

  @Option(names = "--learning-rate", description = "AdamW's learning rate (default: the job's).")
  private Float learningRate;

  @Option(
      names = "--device",
      paramLabel = "cpu|gpu",
      defaultValue = "cpu",
      description = "What gradients are computed on; no bit depends on it (default: cpu).")
  private ComputeDevice device;

  @Option(
      names = "--device-transport",
      paramLabel = "NAME",
      description = "What moves device memory: auto, host, nccl, peer (default: Spark's setting).")
  private DeviceTransport deviceTransport;

  TrainingRun() {}

  /** The values of {@code spark.rankfold.device.transport}. */
  private enum DeviceTransport {
    AUTO,
    HOST,
    NCCL,
    PEER
  }

  /** What a job trains with when its user says nothing else. */
  record Defaults(int epochs, int batch, float learningRate, float weightDecay) {}

  /**
   * Trains and prints a line an epoch, the accuracy on the held-out rows and the model's digest.
   */
  TrainedModel run(
      String name,
      MlpModel model,
      Defaults defaults,
      KeyedRows<LabelledRow> training,
      KeyedRows<LabelledRow> heldOut,
      int tasks,
      PrintWriter out) {
    float rate = learningRate == null ? defaults.learningRate() : learningRate;
    Trainer.Builder<LabelledRow> trainer =
        Trainer.builder(model)
            .name(name)
            .world(world)
            .tasks(tasks)
            .globalBatch(batch == null ? defaults.batch() : batch)
            .epochs(epochs == null ? defaults.epochs() : epochs)
            .optimizer(new AdamW(rate).withWeightDecay(defaults.weightDecay()))
            .seed(seed)
            .device(device)
            .onEpoch(report -> print(report, out));
    if (deviceTransport != null) {
      String mover = deviceTransport.name().toLowerCase(Locale.ROOT);
      trainer = trainer.set(ConfigKeys.DEVICE_TRANSPORT.name(), mover);
    }
    TrainedModel trained = trainer.build().fit(training, heldOut);
    int last = trained.epochs().size();
    if (last > 0) {
      double accuracy = trained.epochs().get(last - 1).heldOut().accuracy();
      out.printf(Locale.ROOT, "accuracy=%.4f%n", accuracy);
    }
    out.println("model sha256=" + trained.sha256());
    out.flush();
    return trained;
  }

  private static void print(EpochReport report, PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "epoch %2d  loss=%.4f  accuracy=%.4f  held-out loss=%.4f  held-out accuracy=%.4f%n",
        report.epoch(),
        report.training().meanLoss(),
        report.training().accuracy(),
        report.heldOut().meanLoss(),
        report.heldOut().accuracy());
    out.flush();
  }
}
