// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.cuda.cudart.CUhostFn;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/**
 * The environment as native libraries of this process see it; {@link System#getenv} shows what the
 * process was started with. Needs CUDA's bindings loaded, since it calls the C library through one
 * of their function pointers.
 */
final class NativeEnvironment {
  /** The C library keeps the very strings it is given. */
  private static final List<Pointer> KEPT = new ArrayList<>();

  private NativeEnvironment() {}

  /** A variable's value, or null. */
  static String value(String name) {
    Pointer environ = Loader.addressof("environ");
    if (environ == null || environ.isNull()) {
      return null;
    }
    PointerPointer<BytePointer> variables =
        new PointerPointer<BytePointer>(new PointerPointer<Pointer>(environ).get());
    for (long i = 0; ; i++) {
      BytePointer variable = variables.get(BytePointer.class, i);
      if (variable == null || variable.isNull()) {
        return null;
      }
      String text = variable.getString(StandardCharsets.UTF_8);
      if (text.startsWith(name + "=")) {
        return text.substring(name.length() + 1);
      }
    }
  }

  /**
   * Sets a variable. Another thread that looks one up at this moment, in C, may see either
   * environment; so this is for once a process, before a library starts threads of its own.
   *
   * @return false when it could not be set
   */
  static boolean set(String name, String value) {
    Pointer putenv = Loader.addressof("putenv");
    if (putenv == null || putenv.isNull()) {
      return false;
    }
    synchronized (KEPT) {
      BytePointer text = new BytePointer(name + "=" + value, StandardCharsets.UTF_8);
      KEPT.add(text);
      // A function pointer of the bindings is the address of a cell that holds the function's. Its
      // type returns nothing and takes one pointer; putenv's result goes unseen.
      try (PointerPointer<Pointer> cell = new PointerPointer<Pointer>(1L).put(0, putenv);
          CUhostFn function = new CUhostFn(cell)) {
        function.call(text);
      }
    }
    return value.equals(value(name));
  }
}
