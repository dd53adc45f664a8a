// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

/**
 * A task and the GPU it was given.
 *
 * @param task the task as messages name it
 * @param process the same for tasks of one JVM
 * @param host the same for tasks of one machine
 * @param ordinal the device's number in its process
 * @param pciId which device of the machine
 * @param nccl NCCL's version there, 0 when it cannot be used
 */
record GpuSeat(String task, String process, String host, int ordinal, String pciId, int nccl) {
  boolean sharesDevice(GpuSeat other) {
    return host.equals(other.host) && pciId.equals(other.pciId);
  }
}
