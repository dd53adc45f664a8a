// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.rankfold.config.ConfigKeys;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.spark.RankContext;
import org.rankfold.spark.Rankfold;
import org.rankfold.transport.RankTable;
import scala.Tuple2;

/**
 * Trains a model on rows of Spark in a barrier stage, to bits that depend on the rows, the model,
 * the optimizer, world, global batch, epochs and seed, and on nothing else: not on tasks, cores,
 * partitions, hosts, transport or time.
 *
 * <p>Rows are placed on logical ranks by their keys and sorted by them. An epoch has ceil(rows /
 * globalBatch) steps; each step but the last has exactly globalBatch rows, to which logical ranks
 * give in proportion to their rows, in an order shuffled by (seed, epoch, logical rank). A step
 * folds the ranks' gradient sums in rank order (f32), divides each element by the number of rows as
 * a float, and lets the optimizer take its step, on every task alike. In the end all tasks compare
 * digests of their parameters.
 *
 * <p>A task holds the rows of its logical ranks and one gradient array for each in memory, which
 * with {@link ComputeDevice#GPU} is the device's.
 *
 * <pre>{@code
 * TrainedModel trained = Trainer.builder(model)
 *     .world(8).tasks(4).globalBatch(64).epochs(20).optimizer(new Sgd(0.1f)).seed(42)
 *     .build()
 *     .fit(KeyedRows.byColumns(data, decoder, "id"));
 * }</pre>
 *
 * <p>An immutable value; any thread may call {@link #fit}.
 *
 * @param <R> a row
 */
public final class Trainer<R> {
  private final TrainingPlan<R> plan;
  private final int world;
  private final int tasks;
  private final String name;
  private final Map<String, String> settings;
  private final EpochListener listener;

  private Trainer(Builder<R> builder) {
    plan =
        new TrainingPlan<>(
            builder.model,
            builder.optimizer,
            builder.globalBatch,
            builder.epochs,
            builder.seed,
            builder.device);
    world = builder.world;
    tasks = builder.tasks;
    name = builder.name;
    settings = Map.copyOf(builder.settings);
    listener = builder.listener;
    // Refuses an impossible world before Spark is asked for anything.
    RankTable table = new RankTable(world, tasks == 0 ? 1 : tasks);
    Checks.atLeast("tasks", table.tasks(), 1);
  }

  /**
   * Begins a trainer. World, global batch and optimizer must be set.
   *
   * @param model what is trained
   * @param <R> a row
   * @return a builder with one epoch and seed 0
   */
  public static <R> Builder<R> builder(GradientModel<R> model) {
    return new Builder<>(Objects.requireNonNull(model, "model"));
  }

  /**
   * Trains; blocks until all tasks have ended.
   *
   * @param training the rows to train on, at least one
   * @return the trained model
   * @throws org.rankfold.errors.CollectiveException USAGE without rows, with two rows for a key, or
   *     when the group cannot form; else the first cause of its end
   */
  public TrainedModel fit(KeyedRows<R> training) {
    return fit(training.spark(), training.placed(world, false));
  }

  /**
   * Trains and evaluates held-out rows after every epoch, each by the logical rank of its key;
   * blocks until all tasks have ended. The parameters are those of {@link #fit(KeyedRows)}.
   *
   * @param training the rows to train on, at least one
   * @param heldOut the rows to evaluate, of the same Spark application
   * @return the trained model
   * @throws org.rankfold.errors.CollectiveException as {@link #fit(KeyedRows)}
   */
  public TrainedModel fit(KeyedRows<R> training, KeyedRows<R> heldOut) {
    return fit(training.spark(), training.placed(world, false).union(heldOut.placed(world, true)));
  }

  private TrainedModel fit(JavaSparkContext spark, JavaRDD<KeyedRow<R>> rows) {
    if (plan.device() == ComputeDevice.GPU && spark.sc().isLocal()) {
      CudaProbe.process().require(); // this process is the tasks', so say it before they start
    }
    RankTable table = new RankTable(world, tasks == 0 ? Math.min(world, slots(spark)) : tasks);
    JavaRDD<KeyedRow<R>> shares =
        rows.mapToPair(row -> new Tuple2<>(row.rank(), row))
            .partitionBy(new RankPartitioner(table))
            .values();
    Rankfold group =
        Rankfold.on(spark)
            .world(world)
            .name(name)
            .arenaElements(DType.F32, plan.model().parameterCount());
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      group = group.set(setting.getKey(), setting.getValue());
    }
    if (plan.device() == ComputeDevice.GPU) {
      group = group.set(ConfigKeys.DEVICE.name(), "gpu");
    }
    try (EpochFeed feed = EpochFeed.open(listener)) {
      TrainingOutcome outcome = run(group, shares, plan, feed.name());
      feed.tellRest(outcome.epochs());
      return new TrainedModel(outcome);
    }
  }

  private static int slots(JavaSparkContext spark) {
    SparkContext sc = spark.sc();
    return Math.max(
        1, sc.maxNumConcurrentTasks(sc.resourceProfileManager().defaultResourceProfile()));
  }

  /** Static, so that the tasks get the plan and not the trainer. */
  private static <R> TrainingOutcome run(
      Rankfold group, JavaRDD<KeyedRow<R>> shares, TrainingPlan<R> plan, String feed) {
    List<byte[]> outcomes =
        group.run(shares, (context, rows) -> runTask(context, rows, plan, feed).toBytes());
    return TrainingOutcome.ofBytes(outcomes.get(0));
  }

  private static <R> TrainingOutcome runTask(
      RankContext context, Iterator<KeyedRow<R>> rows, TrainingPlan<R> plan, String feed) {
    try (Gradients<R> gradients = gradients(context, plan)) {
      HostedRows<R> hosted =
          HostedRows.of(context.communicator().info(), rows, context::checkAbort);
      LoopWatch watch = new ContextWatch(context, feed);
      return new TrainingLoop<>(plan, context.communicator(), watch, hosted, gradients).run();
    }
  }

  private static <R> Gradients<R> gradients(RankContext context, TrainingPlan<R> plan) {
    return switch (plan.device()) {
      case CPU -> new HostGradients<>(plan.model(), context.rankCount());
      case GPU ->
          new DeviceGradients<>(
              plan.model(), CudaDevice.of(context.gpu().orElseThrow()), context.rankCount());
    };
  }

  /** Passes on to Spark what the loop tells. */
  private record ContextWatch(RankContext context, String feed) implements LoopWatch {
    @Override
    public void checkAbort() {
      context.checkAbort();
    }

    @Override
    public void onProgress(String what, double fraction) {
      context.progress(what, fraction);
    }

    @Override
    public void onEpoch(EpochReport report) {
      EpochFeed.offer(feed, report);
    }
  }

  /**
   * Collects a trainer's settings; for one thread.
   *
   * @param <R> a row
   */
  public static final class Builder<R> {
    private final GradientModel<R> model;
    private final Map<String, String> settings = new HashMap<>();
    private Optimizer optimizer;
    private int globalBatch;
    private int epochs = 1;
    private long seed;
    private int world;
    private int tasks;
    private ComputeDevice device = ComputeDevice.CPU;
    private String name = "train";
    private EpochListener listener = report -> {};

    private Builder(GradientModel<R> model) {
      this.model = model;
    }

    /**
     * How many logical ranks share the rows; the bits depend on it.
     *
     * @param logicalRanks at least 1
     * @return this
     */
    public Builder<R> world(int logicalRanks) {
      world = logicalRanks;
      return this;
    }

    /**
     * How many tasks host the logical ranks; no bit depends on it.
     *
     * @param newTasks from 1 to the world; 0, the default, takes as many as the application has
     *     slots for, up to the world
     * @return this
     */
    public Builder<R> tasks(int newTasks) {
      tasks = newTasks;
      return this;
    }

    /**
     * How many rows a step takes from all logical ranks together.
     *
     * @param rows at least 1
     * @return this
     */
    public Builder<R> globalBatch(int rows) {
      globalBatch = rows;
      return this;
    }

    /**
     * How often every row is visited.
     *
     * @param newEpochs at least 0; after none the model is as it was initialised
     * @return this
     */
    public Builder<R> epochs(int newEpochs) {
      epochs = newEpochs;
      return this;
    }

    /**
     * How parameters follow from gradients.
     *
     * @param newOptimizer for example {@link Sgd}
     * @return this
     */
    public Builder<R> optimizer(Optimizer newOptimizer) {
      optimizer = newOptimizer;
      return this;
    }

    /**
     * What the first parameters and the order of rows are drawn from.
     *
     * @param newSeed any number
     * @return this
     */
    public Builder<R> seed(long newSeed) {
      seed = newSeed;
      return this;
    }

    /**
     * What gradients are computed on; with {@link ComputeDevice#GPU} the model needs {@link
     * GradientModel#on}, and every task a CUDA device, as with {@code spark.rankfold.device=gpu}:
     * {@link #fit} fails with UNSUPPORTED and the reason where one has none.
     *
     * @param newDevice CPU by default
     * @return this
     */
    public Builder<R> device(ComputeDevice newDevice) {
      device = Objects.requireNonNull(newDevice, "device");
      return this;
    }

    /**
     * What the training is called in Spark's UI and in messages.
     *
     * @param newName any text
     * @return this
     */
    public Builder<R> name(String newName) {
      name = Objects.requireNonNull(newName, "name");
      return this;
    }

    /**
     * Overrides a setting for the training's group.
     *
     * @param key a {@code spark.rankfold.*} key
     * @param value its text
     * @return this
     */
    public Builder<R> set(String key, String value) {
      settings.put(key, value);
      return this;
    }

    /**
     * Who is told of every epoch.
     *
     * @param newListener called as {@link EpochListener} says
     * @return this
     */
    public Builder<R> onEpoch(EpochListener newListener) {
      listener = Objects.requireNonNull(newListener, "listener");
      return this;
    }

    /**
     * The trainer, once its settings have been checked.
     *
     * @return the trainer
     * @throws org.rankfold.errors.CollectiveException INVALID_WORLD or INVALID_ARGUMENT, naming the
     *     setting and its range
     */
    public Trainer<R> build() {
      return new Trainer<>(this);
    }
  }
}
