// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.view.View;

/** Sets the state for threads of its own, by native code, where a C compiler is there. */
class SubnormalGuardTest {
  private static final int FLUSH_TO_ZERO = 0x8000;
  private static final int DENORMALS_ARE_ZERO = 0x0040;

  /** Without jni.h: the first two arguments are pointers that it leaves alone. */
  private static final String NATIVE =
      """
      #include <xmmintrin.h>
      int Java_org_rankfold_fold_FloatMode_set(void *env, void *type, int mask) {
        _mm_setcsr(_mm_getcsr() | (unsigned) mask);
        return (int) _mm_getcsr();
      }
      """;

  @TempDir Path dir;

  @Test
  void shouldPassOnAnOrdinaryThread() {
    assertThatCode(SubnormalGuard::check).doesNotThrowAnyException();
  }

  @Test
  void shouldRefuseEveryFoldWhenTheThreadFlushesToZero() throws Exception {
    build("floatmode", NATIVE);
    for (int mask : new int[] {FLUSH_TO_ZERO, DENORMALS_ARE_ZERO, 0x8040}) {
      onThread(
          () -> {
            System.load(dir.resolve("libfloatmode.so").toString());
            SubnormalGuard.check();
            assertThat(FloatMode.set(mask) & mask).isEqualTo(mask);
            for (String name : List.of("scalar", "lane-plain", "lane")) {
              refuses(Folds.named(name));
            }
          });
    }
    SubnormalGuard.check();
  }

  /**
   * What loading does to a thread is the JVM's to say: 17 leaves it flushing, 21 and newer restore
   * it. The guard has to agree with the thread either way.
   */
  @Test
  void shouldAgreeWithTheThreadWhenALibraryBuiltWithFastMathIsLoaded() throws Exception {
    build("floatmode", NATIVE);
    build("fast", "int nothing;\n", "-ffast-math");
    onThread(
        () -> {
          System.load(dir.resolve("libfloatmode.so").toString());
          System.load(dir.resolve("libfast.so").toString());
          boolean flushes = (FloatMode.set(0) & (FLUSH_TO_ZERO | DENORMALS_ARE_ZERO)) != 0;
          System.out.println(
              "a library built with -ffast-math, loaded by Java "
                  + Runtime.version().feature()
                  + ", leaves the thread flushing to zero: "
                  + flushes);
          if (flushes) {
            refuses(Folds.fastest());
          } else {
            SubnormalGuard.check();
          }
        });
  }

  private static void refuses(Fold fold) {
    float[] out = {7};
    View[] addends = {View.of(new float[] {1}), View.of(new float[] {2})};
    try {
      fold.fold(
          new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2),
          addends,
          new View[] {View.of(out)});
    } catch (CollectiveException e) {
      assertThat(e.code()).isEqualTo(ErrorCode.FLUSH_TO_ZERO);
      assertThat(e.outState()).isEqualTo(OutState.UNTOUCHED);
      assertThat(e).hasMessageContaining("-ffast-math").hasMessageContaining("00000002");
      assertThat(out[0]).isEqualTo(7);
      return;
    }
    throw new AssertionError(fold + " folded on a thread that flushes to zero");
  }

  private void build(String name, String source, String... flags)
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        System.getProperty("os.arch").equals("amd64"), "MXCSR is x86-64's; this is another CPU");
    Path file = Files.writeString(dir.resolve(name + ".c"), source);
    List<String> command = new java.util.ArrayList<>(List.of("gcc", "-O2", "-shared", "-fPIC"));
    command.addAll(List.of(flags));
    command.addAll(List.of("-o", dir.resolve("lib" + name + ".so").toString(), file.toString()));
    int status;
    try {
      Process gcc = new ProcessBuilder(command).inheritIO().start();
      assertThat(gcc.waitFor(60, TimeUnit.SECONDS)).as("gcc ends in 60 s").isTrue();
      status = gcc.exitValue();
    } catch (IOException e) {
      String reason = "skipped, no gcc to build a library with: " + e.getMessage();
      System.out.println(reason);
      Assumptions.abort(reason);
      return;
    }
    assertThat(status).as("gcc's exit status").isZero();
  }

  private static void onThread(Runnable body) throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread = new Thread(body, "flushing");
    thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
    thread.start();
    thread.join(TimeUnit.SECONDS.toMillis(60));
    assertThat(thread.isAlive()).isFalse();
    assertThat(failure.get()).isNull();
  }
}
