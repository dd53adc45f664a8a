// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.rankfold.collective.CollectiveHandle;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.view.View;

/** Misuse: a clear error on every task, nothing written, and the communicator goes on. */
abstract class MisuseSuite {
  private static final int N = 42;
  private static final FoldOrder LEFT = FoldOrder.RANK_LEFT;

  abstract Groups groups();

  /** What a task does; task 2 is the one that differs. */
  private interface Call {
    void make(Communicator communicator, boolean differs, View out);
  }

  private void refused(ErrorCode code, List<String> values, Call call) {
    float[][] outs = new float[3][N];
    for (float[] out : outs) {
      Arrays.fill(out, -7);
    }
    List<CollectiveException> errors =
        groups()
            .errors(
                3,
                3,
                communicator -> {
                  int task = communicator.info().task();
                  CollectiveException refusal = null;
                  try {
                    call.make(communicator, task == 2, View.of(outs[task]));
                  } catch (CollectiveException e) {
                    refusal = e;
                  }
                  float[] sum = new float[N];
                  communicator.allReduce(Rows.views(communicator.info(), N), View.of(sum));
                  assertThat(sum).as("the next call").isEqualTo(Rows.sum(3, N));
                  if (refusal != null) {
                    throw refusal;
                  }
                });
    assertThat(errors).doesNotContainNull();
    for (CollectiveException error : errors) {
      assertThat(error.code()).as(error.getMessage()).isEqualTo(code);
      assertThat(error.category()).isEqualTo(ErrorCategory.USAGE);
      assertThat(error.outState()).isEqualTo(OutState.UNTOUCHED);
      assertThat(error.getMessage()).contains(values);
    }
    for (float[] out : outs) {
      assertThat(out).containsOnly(-7);
    }
  }

  private static List<View> row(int n) {
    return List.of(View.of(new float[n]));
  }

  @Test
  void shouldStateBothLengthsWhenTheyDiffer() {
    refused(
        ErrorCode.COUNT_MISMATCH,
        List.of("rank=2 length=41", "rank=0 length=42"),
        (communicator, differs, out) ->
            communicator.allReduce(row(differs ? N - 1 : N), differs ? out.slice(0, N - 1) : out));
  }

  @Test
  void shouldStateBothTypesWhenTheyDiffer() {
    refused(
        ErrorCode.CONTRACT_MISMATCH,
        List.of("rank=2", "i32", "rank=0", "f32"),
        (communicator, differs, out) -> {
          if (differs) {
            communicator.allReduce(List.of(View.of(new int[N])), View.of(new int[N]));
          } else {
            communicator.allReduce(row(N), out);
          }
        });
  }

  @Test
  void shouldStateBothContractsWhenOperationsDiffer() {
    refused(
        ErrorCode.CONTRACT_MISMATCH,
        List.of("f32:max:left:3", "f32:sum:left:3"),
        (communicator, differs, out) ->
            communicator.allReduce(differs ? ReduceOp.MAX : ReduceOp.SUM, LEFT, row(N), out));
  }

  @Test
  void shouldStateBothContractsWhenOrdersDiffer() {
    refused(
        ErrorCode.CONTRACT_MISMATCH,
        List.of("f32:sum:tree:3", "f32:sum:left:3"),
        (communicator, differs, out) ->
            communicator.allReduce(
                ReduceOp.SUM, differs ? FoldOrder.RANK_TREE : LEFT, row(N), out));
  }

  @Test
  void shouldStateBothCallsWhenKindsDiffer() {
    refused(
        ErrorCode.CALL_MISMATCH,
        List.of("barrier #1", "all_reduce #1"),
        (communicator, differs, out) -> {
          if (differs) {
            communicator.barrier();
          } else {
            communicator.allReduce(row(N), out);
          }
        });
  }

  @Test
  void shouldStateBothRootsWhenTheyDiffer() {
    refused(
        ErrorCode.CALL_MISMATCH,
        List.of("rank=2 root=1", "rank=0 root=0"),
        (communicator, differs, out) -> communicator.broadcast(differs ? 1 : 0, out));
  }

  @Test
  void shouldRefuseARootOutsideTheWorld() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("root=3", "world=3"),
        (communicator, differs, out) -> communicator.broadcast(3, out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsTooManyAddends() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("addends=2 != 1", "task 2"),
        (communicator, differs, out) ->
            communicator.allReduce(differs ? List.of(row(N).get(0), row(N).get(0)) : row(N), out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsNoAddends() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("addends=0 != 1", "task 2"),
        (communicator, differs, out) -> communicator.allReduce(differs ? List.of() : row(N), out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsNoResult() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("null", "task 2"),
        (communicator, differs, out) -> communicator.allReduce(row(N), differs ? null : out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsANullAddend() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("null", "task 2"),
        (communicator, differs, out) ->
            communicator.allReduce(differs ? Arrays.asList((View) null) : row(N), out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsNoOperation() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("null", "task 2"),
        (communicator, differs, out) ->
            communicator.allReduce(differs ? null : ReduceOp.SUM, LEFT, row(N), out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsNoBuffer() {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        List.of("null", "task 2"),
        (communicator, differs, out) -> communicator.broadcast(0, differs ? null : out));
  }

  @Test
  void shouldRefuseOnEveryTaskWhenOneBringsAResultOfAnotherLength() {
    refused(
        ErrorCode.COUNT_MISMATCH,
        List.of("out count=41 != 42", "task 2"),
        (communicator, differs, out) ->
            communicator.allReduce(row(N), differs ? out.slice(0, N - 1) : out));
  }

  @Test
  void shouldRefuseAnArrayThatTwoTasksBring() {
    assumeTrue(groups().comparesTasksMemory(), "views don't travel to other processes");
    float[] shared = new float[N];
    refused(
        ErrorCode.ALIASED_VIEWS,
        List.of("task 0", "task 1"),
        (communicator, differs, out) ->
            communicator.allReduce(differs ? row(N) : List.of(View.of(shared)), out));
  }

  @Test
  void shouldRefuseAResultThatOverlapsAnAddendWithoutBeingIt() {
    refused(
        ErrorCode.ALIASED_VIEWS,
        List.of("shares memory", "task 2"),
        (communicator, differs, out) -> {
          float[] longer = new float[N + 1];
          communicator.allReduce(
              differs ? List.of(View.of(longer, 0, N)) : row(N),
              differs ? View.of(longer, 1, N) : out);
        });
  }

  @Test
  void shouldRefuseTheMeanOfIntegers() {
    refused(
        ErrorCode.UNDEFINED_OPERATION,
        List.of("op=mean", "i32"),
        (communicator, differs, out) ->
            communicator.allReduce(
                ReduceOp.MEAN, LEFT, List.of(View.of(new int[N])), View.of(new int[N])));
  }

  @Test
  void shouldRefuseToScatterWhatIsNoMultipleOfTheWorld() {
    refused(
        ErrorCode.COUNT_MISMATCH,
        List.of("count=41", "world=3"),
        (communicator, differs, out) ->
            communicator.reduceScatter(
                ReduceOp.SUM, LEFT, row(N - 1), List.of(out.slice(0, N / 3))));
  }

  @Test
  void shouldRefuseToGatherIntoTooLittle() {
    refused(
        ErrorCode.COUNT_MISMATCH,
        List.of("out count=42 != 126"),
        (communicator, differs, out) -> communicator.allGather(row(N), out));
  }

  @Test
  void shouldRefuseAnArrayUsedTwiceByOneTask() {
    float[] twice = new float[N];
    List<CollectiveException> errors =
        groups()
            .errors(
                4,
                2,
                communicator ->
                    communicator.allReduce(
                        communicator.info().task() == 0
                            ? List.of(View.of(twice), View.of(twice))
                            : List.of(View.of(new float[N]), View.of(new float[N])),
                        View.of(new float[N])));
    assertThat(errors).doesNotContainNull();
    for (CollectiveException error : errors) {
      assertThat(error.code()).isEqualTo(ErrorCode.ALIASED_VIEWS);
      assertThat(error.getMessage()).contains("addend 1 shares memory with addend 0", "task 0");
    }
  }

  @Test
  void shouldThrowTheRefusalAtTheHandleEachTime() {
    groups()
        .run(
            2,
            2,
            communicator -> {
              CollectiveHandle handle =
                  communicator.allReduceAsync(
                      row(N), View.of(new float[N - communicator.info().task()]));
              for (int i = 0; i < 2; i++) {
                assertThatThrownBy(handle::await)
                    .isInstanceOfSatisfying(
                        CollectiveException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.COUNT_MISMATCH));
              }
              communicator.barrier();
              return "";
            });
  }

  @Test
  void shouldRefuseASecondThreadAndGoOnWithTheFirst() {
    CountDownLatch refused = new CountDownLatch(1);
    List<String> caught =
        groups()
            .run(
                2,
                2,
                communicator -> {
                  float[] out = new float[N];
                  AtomicReference<CollectiveException> error = new AtomicReference<>();
                  if (communicator.info().task() == 1) {
                    assertThat(refused.await(60, TimeUnit.SECONDS)).isTrue();
                    communicator.allReduce(Rows.views(communicator.info(), N), View.of(out));
                  } else {
                    Thread second = intruder(communicator, error, refused);
                    communicator.allReduce(Rows.views(communicator.info(), N), View.of(out));
                    second.join();
                  }
                  assertThat(out).isEqualTo(Rows.sum(2, N));
                  return error.get() == null ? "" : error.get().code().name();
                });
    assertThat(caught).containsExactly("WRONG_THREAD", "");
  }

  /** Calls once the task's own thread waits in a call, which its peer ends after the refusal. */
  private static Thread intruder(
      Communicator communicator,
      AtomicReference<CollectiveException> error,
      CountDownLatch refused) {
    Thread own = Thread.currentThread();
    Thread second =
        new Thread(
            () -> {
              try {
                while (own.getState() == Thread.State.RUNNABLE) {
                  Thread.onSpinWait();
                }
                communicator.checkAbort();
                communicator.barrier();
              } catch (CollectiveException e) {
                error.set(e);
              } finally {
                refused.countDown();
              }
            },
            "intruder");
    second.start();
    return second;
  }

  @Test
  void shouldRefuseCallsAfterClose() {
    List<CollectiveException> errors =
        groups()
            .errors(
                2,
                2,
                communicator -> {
                  communicator.barrier();
                  communicator.close();
                  communicator.close();
                  communicator.barrier();
                });
    assertThat(errors).doesNotContainNull();
    assertThat(errors).extracting(CollectiveException::code).containsOnly(ErrorCode.CLOSED);
  }

  @Test
  void shouldRefuseArenasBelowZero() {
    List<CollectiveException> errors =
        groups().errors(2, 2, communicator -> communicator.allocate(DType.F32, -1).close());
    assertThat(errors).doesNotContainNull();
    assertThat(errors)
        .extracting(CollectiveException::code)
        .containsOnly(ErrorCode.INVALID_ARGUMENT);
  }
}
