// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.lang.reflect.Constructor;
import org.rankfold.InternalApi;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Where folds come from. All of them give the same bits; they differ in speed only. */
@InternalApi
public final class Folds {
  private Folds() {}

  /**
   * The fastest fold of this JVM: {@code lane}.
   *
   * @return a fold that any number of threads may use; its {@code toString} says what it is
   */
  public static Fold fastest() {
    return named("lane");
  }

  /**
   * A fold by name: {@code scalar} is the obvious loop, {@code lane} the fast one, with the Vector
   * API for halves where the JVM has it ({@code --add-modules jdk.incubator.vector}), {@code
   * lane-plain} the same without, and {@code lane-vector} the same with it or not at all.
   *
   * @param name one of those
   * @return a fold that any number of threads may use
   * @throws CollectiveException INVALID_ARGUMENT for another name; UNSUPPORTED for {@code
   *     lane-vector} where the JVM lacks the module
   */
  public static Fold named(String name) {
    return switch (name) {
      case "scalar" -> new ScalarFold();
      case "lane" -> hasVectors() ? vector() : plain();
      case "lane-plain" -> plain();
      case "lane-vector" -> vector();
      default ->
          throw CollectiveException.usage(
              ErrorCode.INVALID_ARGUMENT,
              "fold=%s is none of: scalar, lane, lane-plain, lane-vector",
              name);
    };
  }

  private static Fold plain() {
    return new LaneFold(PlainHalfLoops.f16(), PlainHalfLoops.bf16());
  }

  private static boolean hasVectors() {
    return ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
  }

  private static Fold vector() {
    if (!hasVectors()) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "fold=lane-vector needs the module jdk.incubator.vector: start the JVM with --add-modules"
              + " jdk.incubator.vector");
    }
    try {
      return new LaneFold(
          loops("org.rankfold.fold.VectorF16Loops"), loops("org.rankfold.fold.VectorBf16Loops"));
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED, "the Vector API of this JVM is not as expected: " + e, e);
    }
  }

  /** By name: the classes are compiled apart and cannot be linked without the module. */
  static HalfLoops loops(String className) throws ReflectiveOperationException {
    Constructor<?> constructor = Class.forName(className).getDeclaredConstructor();
    return (HalfLoops) constructor.newInstance();
  }
}
