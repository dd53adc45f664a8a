// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import org.rankfold.InternalApi;

/**
 * Moves the bits of device views; implemented where a device's library is called, so that views
 * themselves need none. Every method returns when its bytes have arrived, waits a bounded time
 * only, and may be called from any thread. None of them waits for work that other streams have
 * still to do on the memory: that is the caller's.
 */
@InternalApi
public interface DevicePort {
  /**
   * The device's name in messages.
   *
   * @return for example {@code cuda:0}
   */
  String name();

  /**
   * Copies device elements to the host.
   *
   * @param device where from
   * @param host a heap or direct view of the same type and count
   */
  void read(DeviceView device, View host);

  /**
   * Copies host elements to the device.
   *
   * @param host a heap or direct view of the same type and count
   * @param device where to
   */
  void write(View host, DeviceView device);

  /**
   * Copies elements between device views, of two devices too.
   *
   * @param from where from
   * @param to where to, the same type and count
   */
  void copy(DeviceView from, DeviceView to);
}
