// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.SizeTPointer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DevicePort;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * A device of this process, by its primary context, which other libraries of the process share. One
 * object for each device, kept until the process ends. Thread-safe; every call makes the device
 * current on the calling thread and leaves it so.
 */
public final class CudaDevice implements DevicePort {
  private static final ConcurrentMap<Integer, CudaDevice> PROCESS = new ConcurrentHashMap<>();

  private final CudaDeviceInfo info;
  private final CUctx_st context;
  private final Set<CudaDevice> peers = new HashSet<>();
  private final HostCopies hostCopies = new HostCopies(this);

  private CudaDevice(CudaDeviceInfo info) {
    this.info = info;
    this.context = new CUctx_st();
    CudaCheck.driver(
        cudart.cuDevicePrimaryCtxRetain(context, info.ordinal()), "cuDevicePrimaryCtxRetain");
  }

  /**
   * A device by its number.
   *
   * @param ordinal from 0, after CUDA_VISIBLE_DEVICES
   * @return the process's object for it
   * @throws CollectiveException UNSUPPORTED when CUDA cannot be used; INVALID_ARGUMENT when there
   *     is no such device
   */
  public static CudaDevice of(int ordinal) {
    int count = CudaProbe.process().require().devices().size();
    if (ordinal < 0 || ordinal >= count) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "device ordinal=%d is not below devices=%d", ordinal, count);
    }
    return PROCESS.computeIfAbsent(
        ordinal, key -> new CudaDevice(CudaProbe.process().devices().get(key)));
  }

  /**
   * What the device is.
   *
   * @return as the probe found it
   */
  public CudaDeviceInfo info() {
    return info;
  }

  /** Makes this the calling thread's device. */
  public void makeCurrent() {
    CudaCheck.driver(cudart.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  }

  /**
   * Lets kernels of this device read and write another's memory directly. Doing it again does
   * nothing.
   *
   * @param peer whose memory
   * @return false when the two devices cannot; nothing has changed then
   */
  public boolean enableAccessTo(CudaDevice peer) {
    synchronized (peers) {
      if (reaches(peer)) {
        return true;
      }
      int[] can = new int[1];
      CudaCheck.driver(
          cudart.cuDeviceCanAccessPeer(can, info.ordinal(), peer.info.ordinal()),
          "cuDeviceCanAccessPeer");
      if (can[0] == 0) {
        return false;
      }
      makeCurrent();
      int code = cudart.cuCtxEnablePeerAccess(peer.context, 0);
      if (code != cudart.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
        CudaCheck.driver(code, "cuCtxEnablePeerAccess");
      }
      peers.add(peer);
      return true;
    }
  }

  /**
   * Whether kernels of this device can read and write another's memory now.
   *
   * @param other whose memory
   * @return true for this device itself and after {@link #enableAccessTo}
   */
  public boolean reaches(DevicePort other) {
    synchronized (peers) {
      return other == this || (other instanceof CudaDevice device && peers.contains(device));
    }
  }

  /**
   * Whether kernels of this device can change a word of another's memory atomically.
   *
   * @param peer whose memory
   * @return true for this device itself and over NVLink; false over most PCIe switches
   */
  public boolean hasAtomicsOn(CudaDevice peer) {
    if (peer == this) {
      return true;
    }
    int[] has = new int[1];
    CudaCheck.driver(
        cudart.cudaDeviceGetP2PAttribute(
            has, cudart.cudaDevP2PAttrNativeAtomicSupported, info.ordinal(), peer.info.ordinal()),
        "cudaDeviceGetP2PAttribute");
    return has[0] != 0;
  }

  /**
   * How much memory of the device nobody has allocated.
   *
   * @return bytes
   */
  public long freeBytes() {
    makeCurrent();
    try (SizeTPointer free = new SizeTPointer(1);
        SizeTPointer total = new SizeTPointer(1)) {
      CudaCheck.driver(cudart.cuMemGetInfo(free, total), "cuMemGetInfo");
      return free.get();
    }
  }

  @Override
  public String name() {
    return "cuda:" + info.ordinal();
  }

  @Override
  public void read(DeviceView device, View host) {
    hostCopies.read(device, host);
  }

  @Override
  public void write(View host, DeviceView device) {
    hostCopies.write(host, device);
  }

  @Override
  public void copy(DeviceView from, DeviceView to) {
    hostCopies.copy(from, to);
  }

  @Override
  public String toString() {
    return info.toString();
  }
}
