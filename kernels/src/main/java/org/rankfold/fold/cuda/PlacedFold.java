// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.rankfold.InternalApi;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Fold;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Folds where the memory is: on the host when all views lie there, else on the device of the first
 * output that lies on one, or of the first addend. No CUDA code is loaded before a device view
 * comes. The folds of devices are the process's, one for each device, since their compiled kernels
 * are worth keeping.
 */
@InternalApi
public final class PlacedFold implements Fold {
  private static final ConcurrentMap<CudaDevice, CudaFold> PROCESS = new ConcurrentHashMap<>();

  private final Fold host;

  /**
   * A fold for all places.
   *
   * @param host what folds host memory
   */
  public PlacedFold(Fold host) {
    this.host = host;
  }

  /**
   * The process's fold on a device.
   *
   * @param device where kernels run
   * @return always the same for a device; not to be closed
   */
  public static CudaFold on(CudaDevice device) {
    return PROCESS.computeIfAbsent(device, CudaFold::on);
  }

  @Override
  public void fold(ReduceContract contract, View[] addends, View[] outs) {
    DeviceView placed = firstOnDevice(outs);
    if (placed == null) {
      placed = firstOnDevice(addends);
    }
    if (placed == null) {
      host.fold(contract, addends, outs);
      return;
    }
    CudaDevice device = deviceOf(placed);
    enableAccess(device, addends);
    enableAccess(device, outs);
    on(device).fold(contract, addends, outs);
  }

  /** Where access cannot be enabled the device's fold says so. */
  private static void enableAccess(CudaDevice device, View[] views) {
    for (View view : views) {
      if (view instanceof DeviceView there && !device.reaches(there.port())) {
        device.enableAccessTo(deviceOf(there));
      }
    }
  }

  private static DeviceView firstOnDevice(View[] views) {
    for (View view : views) {
      if (view instanceof DeviceView there) {
        return there;
      }
    }
    return null;
  }

  private static CudaDevice deviceOf(DeviceView view) {
    if (view.port() instanceof CudaDevice device) {
      return device;
    }
    throw CollectiveException.usage(
        ErrorCode.UNSUPPORTED, "%s lies on no CUDA device, and nothing else folds there", view);
  }

  @Override
  public String toString() {
    return host + ", on a device where the memory is";
  }
}
