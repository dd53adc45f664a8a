// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.errors.CollectiveException;
import org.rankfold.fold.Fold;
import org.rankfold.fold.Folds;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.group.LoopbackGroup.RankBody;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/** How a suite forms groups: the seam by which each transport runs it. */
abstract class Groups {
  static final int CHUNK_BYTES = 64 * 1024;
  static final Duration PATIENT = Duration.ofMinutes(2);

  /** What a task does that is expected to fail. */
  interface Attempt {
    void run(Communicator communicator) throws Exception;
  }

  /** Memory that a task brings, as a call and as its owner sees it. */
  record Floats(View view, FloatBuffer floats) {}

  /** Memory of the kind under test. */
  Floats floats(Communicator communicator, int n) {
    float[] array = new float[n];
    return new Floats(View.of(array), FloatBuffer.wrap(array));
  }

  /** Forms a group that adds with a fold, runs a body on every task and closes it. */
  abstract <R> List<R> run(int world, int tasks, Duration timeout, Fold fold, RankBody<R> body);

  /** Whether tasks of one process see each other's views, and so memory that two of them bring. */
  boolean comparesTasksMemory() {
    return true;
  }

  <R> List<R> run(int world, int tasks, Duration timeout, RankBody<R> body) {
    return run(world, tasks, timeout, Folds.fastest(), body);
  }

  <R> List<R> run(int world, int tasks, RankBody<R> body) {
    return run(world, tasks, PATIENT, body);
  }

  /** The error of every task, in task order; null where there was none. */
  List<CollectiveException> errors(int world, int tasks, Duration timeout, Attempt attempt) {
    List<CollectiveException> errors =
        Collections.synchronizedList(new ArrayList<>(Collections.nCopies(tasks, null)));
    run(
        world,
        tasks,
        timeout,
        communicator -> {
          try {
            attempt.run(communicator);
          } catch (CollectiveException e) {
            errors.set(communicator.info().task(), e);
          }
          return "";
        });
    return errors;
  }

  List<CollectiveException> errors(int world, int tasks, Attempt attempt) {
    return errors(world, tasks, PATIENT, attempt);
  }

  /** Groups of threads, with chunks so small that a call has many. */
  static Groups loopback(PathRule path) {
    return new Groups() {
      @Override
      <R> List<R> run(int world, int tasks, Duration timeout, Fold fold, RankBody<R> body) {
        return LoopbackGroup.of(world, tasks)
            .path(path)
            .fold(fold)
            .chunkBytes(CHUNK_BYTES)
            .timeouts(timeout, Duration.ofSeconds(20))
            .run(body);
      }
    };
  }
}
