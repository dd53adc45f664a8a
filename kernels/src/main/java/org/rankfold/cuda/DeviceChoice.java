// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Which device a task uses: decisions only, nothing is called. */
public final class DeviceChoice {
  private DeviceChoice() {}

  /**
   * The device that a cluster manager's address means in this process. An index is the machine's
   * own number, so CUDA_VISIBLE_DEVICES maps it; a UUID or PCI id is looked for among the devices.
   *
   * @param address an index, {@code GPU-...}, or a PCI id with or without its domain
   * @param visibleDevices what CUDA_VISIBLE_DEVICES says, null where it is not set
   * @param devices the process's devices, by ordinal
   * @return the ordinal in this process
   * @throws CollectiveException INVALID_CONFIG when the address means none of them, with all three
   */
  public static int ordinal(String address, String visibleDevices, List<CudaDeviceInfo> devices) {
    String wanted = address.strip();
    for (CudaDeviceInfo device : devices) {
      if (device.uuid().equalsIgnoreCase(wanted) || pci(device.pciId()).equals(pci(wanted))) {
        return device.ordinal();
      }
    }
    if (wanted.matches("\\d{1,4}")) {
      int ordinal = ofIndex(Integer.parseInt(wanted), visibleDevices);
      if (ordinal >= 0 && ordinal < devices.size()) {
        return ordinal;
      }
    }
    throw new CollectiveException(
        ErrorCode.INVALID_CONFIG,
        String.format(
            Locale.ROOT,
            "device address=%s is none of this process's devices (%s) with"
                + " CUDA_VISIBLE_DEVICES=%s; let the discovery script print UUIDs where the"
                + " variable holds them",
            address,
            devices.stream()
                .map(device -> device.ordinal() + "=" + device.uuid() + "=" + device.pciId())
                .collect(Collectors.joining(", ")),
            visibleDevices));
  }

  /**
   * The device of a task that was given none, as in local mode: tasks take devices by turns.
   *
   * @param localRank the task's number among those of this host
   * @param deviceCount the process's devices, at least 1
   * @return the ordinal
   */
  public static int ofLocalRank(int localRank, int deviceCount) {
    if (localRank < 0 || deviceCount < 1) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "localRank=%d devices=%d", localRank, deviceCount);
    }
    return localRank % deviceCount;
  }

  /** The place of an index in CUDA_VISIBLE_DEVICES, which may hold indices only; -1 for none. */
  private static int ofIndex(int index, String visibleDevices) {
    if (visibleDevices == null) {
      return index;
    }
    String[] visible = visibleDevices.split(",", -1);
    for (int at = 0; at < visible.length; at++) {
      if (visible[at].strip().equals(Integer.toString(index))) {
        return at;
      }
    }
    return -1;
  }

  /** With a domain of four digits and in lower case: tools print eight digits, or none. */
  private static String pci(String id) {
    String lower = id.toLowerCase(Locale.ROOT);
    if (lower.matches("[0-9a-f]{2}:[0-9a-f]{2}\\.[0-9a-f]")) {
      return "0000:" + lower;
    }
    return lower.matches("0000[0-9a-f]{4}:.*") ? lower.substring(4) : lower;
  }
}
