// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * The address of a direct buffer, without native code: through {@code MemorySegment} where the
 * platform has it (22 and newer), else through {@code sun.misc.Unsafe}, whose memory access warns
 * on the newer ones.
 */
final class DirectAddress {
  private static final MethodHandle ADDRESS = addressHandle();

  private DirectAddress() {}

  /** The address of byte 0 of a direct buffer whose position is 0. */
  static long of(ByteBuffer direct) {
    try {
      return (long) ADDRESS.invokeExact((Buffer) direct);
    } catch (Throwable e) {
      throw new IllegalStateException("no address of a direct buffer", e);
    }
  }

  private static MethodHandle addressHandle() {
    try {
      return Runtime.version().feature() >= 22 ? bySegment() : byUnsafe();
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static MethodHandle bySegment() throws ReflectiveOperationException {
    Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    MethodHandle ofBuffer =
        lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class));
    MethodHandle address =
        lookup.findVirtual(segment, "address", MethodType.methodType(long.class));
    return MethodHandles.filterReturnValue(ofBuffer, address);
  }

  private static MethodHandle byUnsafe() throws ReflectiveOperationException {
    Class<?> type = Class.forName("sun.misc.Unsafe");
    Field instance = type.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    Object unsafe = instance.get(null);
    long offset =
        (long)
            type.getMethod("objectFieldOffset", Field.class)
                .invoke(unsafe, Buffer.class.getDeclaredField("address"));
    MethodHandle read =
        MethodHandles.publicLookup()
            .findVirtual(
                type, "getLong", MethodType.methodType(long.class, Object.class, long.class))
            .bindTo(unsafe);
    MethodHandle ofObject = MethodHandles.insertArguments(read, 1, offset);
    return ofObject.asType(MethodType.methodType(long.class, Buffer.class));
  }
}
