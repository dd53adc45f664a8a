// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What NCCL is told about itself before its first use in a process, unless the process was started
 * with the variable. One thing: no RAS, the library's own watcher, whose thread and listening
 * sockets would stay in every executor after its groups have ended, open to whoever connects.
 */
final class NcclDefaults {
  private static final String RAS = "NCCL_RAS_ENABLE";
  private static final AtomicBoolean IS_APPLIED = new AtomicBoolean();

  private NcclDefaults() {}

  static void apply() {
    if (IS_APPLIED.compareAndSet(false, true) && System.getenv(RAS) == null) {
      // Where it cannot be set the library works all the same.
      boolean unused = NativeEnvironment.set(RAS, "0");
    }
  }
}
