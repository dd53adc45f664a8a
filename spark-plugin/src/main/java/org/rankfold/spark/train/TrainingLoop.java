// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.digest.BitDigest;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.RankTable;
import org.rankfold.view.View;

/**
 * One task's part of a training: for each step the gradients of its logical ranks, the fold, the
 * update. Every task makes the same calls, whatever rows it has; parameters stay equal bit by bit
 * on all tasks. For one thread.
 *
 * <p>A step: each logical rank's gradient array is cleared and, when the rank has rows in the step,
 * gets their gradient sum; the arrays are folded (f32, SUM, RANK_LEFT over all logical ranks), the
 * row counts likewise as i64, and each element of the sum is divided by the count as a float, once,
 * on the host, where the optimizer works, wherever the gradients are. Losses and hits: added up a
 * logical rank, step by step, and folded over the ranks once an epoch.
 */
final class TrainingLoop<R> {
  /** Held-out rows scored between two looks at the latch. */
  private static final int EVALUATED_ROWS = 1024;

  private final TrainingPlan<R> plan;
  private final Communicator communicator;
  private final CommunicatorInfo info;
  private final LoopWatch watch;
  private final List<List<R>> training;
  private final List<List<R>> heldOut;
  private final float[] parameters;
  private final Gradients<R> gradients;

  /** A loop whose gradients are made where the caller says; the caller closes them. */
  TrainingLoop(
      TrainingPlan<R> plan,
      Communicator communicator,
      LoopWatch watch,
      HostedRows<R> rows,
      Gradients<R> gradients) {
    this.plan = plan;
    this.communicator = communicator;
    this.info = communicator.info();
    this.watch = watch;
    training = rows.training();
    heldOut = rows.heldOut();
    parameters = new float[plan.model().parameterCount()];
    this.gradients = gradients;
  }

  TrainingOutcome run() {
    BatchPlan batches = new BatchPlan(rowCounts(), plan.globalBatch());
    if (batches.rows() == 0) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "rows=0: there is nothing to train on");
    }
    plan.model().initialise(plan.seed(), parameters);
    gradients.use(parameters);
    Optimizer.State optimizer = plan.optimizer().begin(parameters.length);
    List<EpochReport> reports = new ArrayList<>();
    for (int epoch = 1; epoch <= plan.epochs(); epoch++) {
      Score trained = fold(epoch(epoch, batches, optimizer));
      EpochReport report = new EpochReport(epoch, trained, fold(evaluate()));
      reports.add(report);
      if (info.task() == 0) {
        watch.onEpoch(report);
      }
    }
    String sha256 = BitDigest.of(View.of(parameters));
    requireAgreement(sha256);
    return new TrainingOutcome(
        info.task() == 0 ? parameters : new float[0],
        sha256,
        batches.rows(),
        batches.steps() * plan.epochs(),
        reports);
  }

  /** Every rank's row count on every task: each rank adds its own to zeros. */
  private long[] rowCounts() {
    List<View> addends = new ArrayList<>();
    for (int i = 0; i < info.rankCount(); i++) {
      long[] addend = new long[info.world()];
      addend[info.firstRank() + i] = training.get(i).size();
      addends.add(View.of(addend));
    }
    long[] counts = new long[info.world()];
    communicator.allReduce(addends, View.of(counts));
    return counts;
  }

  private List<Score> epoch(int epoch, BatchPlan batches, Optimizer.State optimizer) {
    List<Score> scores = new ArrayList<>();
    int[][] orders = new int[info.rankCount()][];
    for (int i = 0; i < orders.length; i++) {
      scores.add(Score.NONE);
      orders[i] = EpochOrder.of(plan.seed(), epoch, info.firstRank() + i, training.get(i).size());
    }
    int[] from = new int[orders.length];
    for (long step = 0; step < batches.steps(); step++) {
      long[] stepRows = new long[from.length];
      for (int i = 0; i < orders.length; i++) {
        watch.checkAbort();
        int to = batches.before(info.firstRank() + i, step + 1);
        gradients.clear(i);
        if (to > from[i]) {
          Score score = gradient(i, orders[i], from[i], to);
          scores.set(i, scores.get(i).plus(score));
        }
        stepRows[i] = (long) to - from[i];
        from[i] = to;
      }
      update(optimizer, stepRows, batches.rowsOf(step));
      watch.onProgress(
          "epoch " + epoch + "/" + plan.epochs(),
          ((epoch - 1) * (double) batches.steps() + step + 1)
              / ((double) plan.epochs() * batches.steps()));
    }
    return scores;
  }

  private Score gradient(int i, int[] order, int from, int to) {
    List<R> rows = new ArrayList<>(to - from);
    for (int j = from; j < to; j++) {
      rows.add(training.get(i).get(order[j]));
    }
    return counted(gradients.add(i, rows), rows.size());
  }

  private void update(Optimizer.State optimizer, long[] stepRows, long expectedRows) {
    List<View> counts = new ArrayList<>();
    for (int i = 0; i < stepRows.length; i++) {
      counts.add(View.of(stepRows, i, 1));
    }
    long[] rows = new long[1];
    communicator.allReduce(counts, View.of(rows));
    if (rows[0] != expectedRows) {
      throw new CollectiveException(
          ErrorCode.INTERNAL, "rows of the step=" + rows[0] + " != planned=" + expectedRows);
    }
    List<View> addends = gradients.views();
    communicator.allReduce(addends, addends.get(0));
    float[] mean = gradients.first();
    float divisor = (float) rows[0];
    for (int p = 0; p < mean.length; p++) {
      mean[p] = mean[p] / divisor;
    }
    optimizer.step(parameters, mean);
    gradients.use(parameters);
  }

  private List<Score> evaluate() {
    List<Score> scores = new ArrayList<>();
    for (List<R> rows : heldOut) {
      Score sum = Score.NONE;
      for (int from = 0; from < rows.size(); from += EVALUATED_ROWS) {
        watch.checkAbort();
        List<R> some = rows.subList(from, Math.min(rows.size(), from + EVALUATED_ROWS));
        sum = sum.plus(counted(gradients.evaluate(some), some.size()));
      }
      scores.add(sum);
    }
    return scores;
  }

  private static Score counted(Score score, int rows) {
    if (score.rows() != rows) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "the model scored rows=%d != given rows=%d",
          score.rows(),
          rows);
    }
    return score;
  }

  /** Folds the hosted ranks' scores with all others', in rank order. */
  private Score fold(List<Score> scores) {
    List<View> counts = new ArrayList<>();
    List<View> losses = new ArrayList<>();
    for (Score score : scores) {
      counts.add(View.of(new long[] {score.rows(), score.correct()}));
      losses.add(View.of(new double[] {score.lossSum()}));
    }
    long[] count = new long[2];
    double[] loss = new double[1];
    communicator.allReduce(counts, View.of(count));
    communicator.allReduce(losses, View.of(loss));
    return new Score(count[0], count[1], loss[0]);
  }

  /** Fails everywhere when one task's parameters differ from another's. */
  private void requireAgreement(String sha256) {
    byte[] own = HexFormat.of().parseHex(sha256);
    int[] words = new int[own.length];
    for (int w = 0; w < words.length; w++) {
      words[w] = own[w];
    }
    List<View> rows = new ArrayList<>();
    for (int i = 0; i < info.rankCount(); i++) {
      rows.add(View.of(words.clone()));
    }
    int[] all = new int[info.world() * words.length];
    communicator.allGather(rows, View.of(all));
    RankTable table = new RankTable(info.world(), info.tasks());
    for (int task = 0; task < info.tasks(); task++) {
      int at = table.firstRank(task) * words.length;
      if (!Arrays.equals(all, at, at + words.length, all, 0, words.length)) {
        throw new CollectiveException(
            ErrorCode.INTERNAL,
            "parameters of "
                + table.describe(task)
                + " sha256="
                + hex(all, at)
                + " != "
                + table.describe(0)
                + " sha256="
                + hex(all, 0)
                + "; does the model keep state, or start from what a machine chooses?");
      }
    }
  }

  private static String hex(int[] all, int from) {
    byte[] bytes = new byte[32];
    for (int b = 0; b < bytes.length; b++) {
      bytes[b] = (byte) all[from + b];
    }
    return HexFormat.of().formatHex(bytes);
  }
}
