// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

/**
 * What a device is, as the driver says it.
 *
 * @param ordinal the device's number in this process, after CUDA_VISIBLE_DEVICES
 * @param name the product's name
 * @param pciId domain, bus, device and function: the same in every process of a host
 * @param uuid {@code GPU-} and 32 hexadecimal digits in groups, the same on every host
 * @param major compute capability, the part before the dot
 * @param minor compute capability, the part after the dot
 * @param multiprocessors how many there are
 * @param totalBytes the device's memory
 */
public record CudaDeviceInfo(
    int ordinal,
    String name,
    String pciId,
    String uuid,
    int major,
    int minor,
    int multiprocessors,
    long totalBytes) {
  /**
   * What code for this device is compiled for.
   *
   * @return for example {@code sm_90}
   */
  public String architecture() {
    return "sm_" + major + minor;
  }

  @Override
  public String toString() {
    return String.format(
        java.util.Locale.ROOT,
        "cuda:%d %s, %s, %s, %d multiprocessors, %d MiB",
        ordinal,
        name,
        pciId,
        architecture(),
        multiprocessors,
        totalBytes >> 20);
  }
}
