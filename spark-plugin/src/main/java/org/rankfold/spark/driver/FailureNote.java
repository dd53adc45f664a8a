// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import org.rankfold.InternalApi;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * The first cause of a group's failure on its way from a task to the driver: the exception itself
 * where it can be serialized, else its text and stack trace.
 */
@InternalApi
public final class FailureNote implements Serializable {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String message;
  private final byte[] cause;
  private final String causeText;
  private final StackTraceElement[] causeTrace;

  private FailureNote(ErrorCode code, String message, Throwable cause) {
    this.code = code;
    this.message = message;
    this.cause = bytes(cause);
    this.causeText = String.valueOf(cause);
    this.causeTrace = cause.getStackTrace();
  }

  /**
   * A note of a failure.
   *
   * @param first the first cause: what a latch kept, or what a task threw before it had joined
   * @return the note
   */
  public static FailureNote of(Throwable first) {
    Throwable origin = first;
    if (first instanceof CollectiveException lost
        && isWrapping(lost)
        && lost.getCause() instanceof CollectiveException known) {
      origin = known;
    }
    if (origin instanceof CollectiveException known) {
      boolean wrapped = isWrapping(known) && known.getCause() != null;
      return new FailureNote(known.code(), known.getMessage(), wrapped ? known.getCause() : known);
    }
    return new FailureNote(ErrorCode.USER_CODE_FAILED, "a task failed: " + origin, origin);
  }

  /** Codes that say who failed; why is their cause's business. */
  private static boolean isWrapping(CollectiveException failure) {
    return failure.code() == ErrorCode.PEER_FAILED || failure.code() == ErrorCode.USER_CODE_FAILED;
  }

  /**
   * Why, as a code.
   *
   * @return what {@link #toException} will have
   */
  public ErrorCode code() {
    return code;
  }

  /**
   * What the driver throws.
   *
   * @return code and message of the first cause, which is its cause
   */
  public CollectiveException toException() {
    return new CollectiveException(code, message, readCause());
  }

  private Throwable readCause() {
    if (cause != null) {
      try (ObjectInputStream in = new UserObjects(new ByteArrayInputStream(cause))) {
        return (Throwable) in.readObject();
      } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
        // A class of the executors only: the text below says as much as the driver can.
        return standIn();
      }
    }
    return standIn();
  }

  private Throwable standIn() {
    RuntimeException text = new RuntimeException(causeText);
    text.setStackTrace(causeTrace);
    return text;
  }

  private static byte[] bytes(Throwable cause) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(cause);
    } catch (IOException | RuntimeException e) {
      return null;
    }
    return bytes.toByteArray();
  }

  /** Classes of the user's jars are the context class loader's. */
  private static final class UserObjects extends ObjectInputStream {
    UserObjects(InputStream in) throws IOException {
      super(in);
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass description)
        throws IOException, ClassNotFoundException {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      try {
        return Class.forName(description.getName(), false, loader);
      } catch (ClassNotFoundException e) {
        return super.resolveClass(description);
      }
    }
  }
}
