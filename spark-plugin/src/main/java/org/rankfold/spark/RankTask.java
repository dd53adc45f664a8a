// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.util.Iterator;
import java.util.Map;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.shuffle.FetchFailedException;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.spark.bootstrap.MemoryPlan;
import org.rankfold.spark.driver.FailureNote;
import org.rankfold.spark.driver.FirstCauses;

/** What a task of a run does around the user's body: join, guard, wait for the others, leave. */
final class RankTask<T, R> implements BarrierStage.Body<T, R> {
  private static final long serialVersionUID = 1L;

  private final int world;

  @SuppressWarnings("serial") // always an immutable map of the JDK
  private final Map<String, String> settings;

  private final MemoryPlan memory;
  private final RankDataFunction<T, R> body;
  private final FirstCauses causes;
  private final RunAttempt attempt;

  RankTask(
      int world,
      Map<String, String> settings,
      MemoryPlan memory,
      RankDataFunction<T, R> body,
      FirstCauses causes,
      RunAttempt attempt) {
    this.world = world;
    this.settings = settings;
    this.memory = memory;
    this.body = body;
    this.causes = causes;
    this.attempt = attempt;
  }

  @Override
  public R call(Iterator<T> rows) throws Exception {
    BarrierTaskContext task = BarrierTaskContext.get();
    RankContext context;
    try {
      context = RankContext.join(task, world, settings, memory, attempt);
    } catch (Throwable e) {
      if (!task.isInterrupted()) {
        causes.add(FailureNote.of(e));
      }
      throw e;
    }
    try {
      R result = body.call(context, rows);
      context.guard().awaitPeers();
      return result;
    } catch (Throwable e) {
      causes.add(FailureNote.of(context.guard().fail(ofCluster(e))));
      throw e;
    } finally {
      context.guard().close();
    }
  }

  /** Rows that could not be read because an executor is gone are not the body's failure. */
  private static Throwable ofCluster(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof FetchFailedException) {
        return new CollectiveException(
            ErrorCode.PEER_FAILED, "rows could not be fetched: " + t.getMessage(), failure);
      }
    }
    return failure;
  }
}
