// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import java.util.Objects;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A stretch of a device's memory, at an address of the process-wide address space that host and
 * devices share. Only device folds and copies reach the elements. Copies to and from the host
 * return when the bytes have arrived; they don't wait for work of other streams on the memory.
 */
public final class DeviceView implements View {
  private final DType dtype;
  private final DevicePort port;
  private final long address;
  private final long count;

  private DeviceView(DType dtype, DevicePort port, long address, long count) {
    this.dtype = dtype;
    this.port = port;
    this.address = address;
    this.count = count;
  }

  /**
   * A stretch of device memory, borrowed: whoever allocated it keeps it alive.
   *
   * @param port the device's
   * @param address the first element's; any byte, though multiples of 16 are fast
   * @param dtype what its bytes are
   * @param count elements
   * @return its view
   * @throws CollectiveException INVALID_ARGUMENT for a negative count, or address 0 of a view that
   *     is not empty
   */
  public static DeviceView of(DevicePort port, long address, DType dtype, long count) {
    Objects.requireNonNull(port, "port");
    Objects.requireNonNull(dtype, "dtype");
    if (count < 0 || (count > 0 && address == 0)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "count=%d at device address %x", count, address);
    }
    return new DeviceView(dtype, port, address, count);
  }

  @Override
  public DType dtype() {
    return dtype;
  }

  @Override
  public long count() {
    return count;
  }

  /**
   * The address of the first element.
   *
   * @return an address on the device, unique in this process
   */
  public long address() {
    return address;
  }

  /**
   * What moves this view's bits.
   *
   * @return the port of the device that holds the memory
   */
  public DevicePort port() {
    return port;
  }

  @Override
  public DeviceView slice(long from, long sliceCount) {
    Slices.check(this, from, sliceCount);
    return new DeviceView(dtype, port, address + from * dtype.bytes(), sliceCount);
  }

  @Override
  public void copyTo(View destination) {
    Slices.checkAlike(this, destination);
    if (destination instanceof DeviceView device) {
      if (!isSameStretchAs(device)) {
        port.copy(this, device);
      }
    } else {
      port.read(this, destination);
    }
  }

  @Override
  public boolean overlaps(View other) {
    return other instanceof DeviceView device
        && Slices.intersect(address, byteCount(), device.address, device.byteCount());
  }

  @Override
  public boolean isSameStretchAs(View other) {
    return other instanceof DeviceView device
        && device.dtype == dtype
        && device.count == count
        && device.address == address;
  }

  @Override
  public String toString() {
    return dtype.label() + " x " + count + " (" + port.name() + ")";
  }
}
