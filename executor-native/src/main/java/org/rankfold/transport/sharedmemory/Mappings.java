// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;

/**
 * Ends mappings at once instead of when the garbage collector comes: the only use of the JDK's
 * Unsafe here, until Java 22's memory segments can be used. Whoever unmaps must know that nobody
 * touches the memory any more.
 */
final class Mappings {
  private static final MethodHandle CLEANER = cleaner();

  private Mappings() {}

  /** Unmaps a buffer that map() returned. */
  static void unmap(MappedByteBuffer buffer) {
    try {
      CLEANER.invokeExact((ByteBuffer) buffer);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot unmap", e);
    }
  }

  private static MethodHandle cleaner() {
    try {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field instance = unsafe.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      return MethodHandles.publicLookup()
          .findVirtual(unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
          .bindTo(instance.get(null));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
