// SPDX-License-Identifier: Apache-2.0
package org.rankfold.errors;

import java.util.Objects;

/**
 * The one exception of Rankfold. Its code says why, its category what to do, its message the broken
 * relation with its values, and {@link #outState()} what became of the call's output.
 */
public final class CollectiveException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final OutState outState;

  /**
   * An exception without an output.
   *
   * @param code why
   * @param message the broken relation with its values
   */
  public CollectiveException(ErrorCode code, String message) {
    this(code, message, OutState.NOT_APPLICABLE, null);
  }

  /**
   * An exception without an output, with what caused it.
   *
   * @param code why
   * @param message the broken relation with its values
   * @param cause the first cause, or null
   */
  public CollectiveException(ErrorCode code, String message, Throwable cause) {
    this(code, message, OutState.NOT_APPLICABLE, cause);
  }

  /**
   * An exception of a call that has an output.
   *
   * @param code why
   * @param message the broken relation with its values
   * @param outState what became of the output
   * @param cause the first cause, or null
   */
  public CollectiveException(ErrorCode code, String message, OutState outState, Throwable cause) {
    super(message, cause);
    this.code = Objects.requireNonNull(code, "code");
    this.outState = Objects.requireNonNull(outState, "outState");
  }

  /**
   * Why the call failed.
   *
   * @return the stable code
   */
  public ErrorCode code() {
    return code;
  }

  /**
   * What to do about it.
   *
   * @return the code's category
   */
  public ErrorCategory category() {
    return code.category();
  }

  /**
   * What became of the output of the failed call.
   *
   * @return the output's state
   */
  public OutState outState() {
    return outState;
  }

  /**
   * A usage error: nothing happened.
   *
   * @param code a code of category USAGE
   * @param format the broken relation with its values, as in {@link String#format}
   * @param values the values
   * @return the exception, to be thrown by the caller
   */
  public static CollectiveException usage(ErrorCode code, String format, Object... values) {
    return new CollectiveException(
        code, String.format(java.util.Locale.ROOT, format, values), OutState.UNTOUCHED, null);
  }
}
