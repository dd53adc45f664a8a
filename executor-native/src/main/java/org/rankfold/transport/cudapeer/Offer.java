// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import org.rankfold.cuda.CudaEvent;
import org.rankfold.view.DeviceView;

/** Memory that a peer may copy once its owner's stream has come so far. */
final class Offer {
  private final DeviceView view;
  private final CudaEvent ready;
  private volatile CudaEvent copied;

  /**
   * An offer.
   *
   * @param view what is to be copied
   * @param ready recorded on the owner's stream
   */
  Offer(DeviceView view, CudaEvent ready) {
    this.view = view;
    this.ready = ready;
  }

  DeviceView view() {
    return view;
  }

  CudaEvent ready() {
    return ready;
  }

  /** The copier's event, once taken. */
  CudaEvent copied() {
    return copied;
  }

  /** The copy is enqueued, and this event of the copier's device recorded behind it. */
  void take(CudaEvent newCopied) {
    copied = newCopied;
  }

  boolean isTaken() {
    return copied != null;
  }

  void close() {
    ready.close();
    copied.close();
  }
}
