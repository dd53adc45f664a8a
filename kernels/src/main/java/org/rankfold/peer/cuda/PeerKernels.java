// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaKernel;
import org.rankfold.cuda.CudaModule;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.cuda.FoldCode;

/**
 * The kernels of one device, compiled and loaded before any of them is launched: loading code while
 * a kernel waits for a peer would make both wait for ever. Thread-safe.
 */
public final class PeerKernels implements AutoCloseable {
  /** A loaded kernel and how many of its blocks the device holds at once. */
  record Ready(CudaKernel kernel, FoldCode code, int residentBlocks) {}

  private record Key(FoldCode code, boolean isMovement) {}

  private static final ConcurrentMap<CudaDevice, PeerKernels> PROCESS = new ConcurrentHashMap<>();

  private final CudaDevice device;
  private final String source;
  private final List<String> moreOptions;
  private final ConcurrentMap<Key, Ready> ready = new ConcurrentHashMap<>();
  private final List<CudaModule> modules = new ArrayList<>();
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private PeerKernels(CudaDevice device, String source, List<String> moreOptions) {
    this.device = device;
    this.source = source;
    this.moreOptions = List.copyOf(moreOptions);
  }

  /**
   * None prepared yet.
   *
   * @param device where they will run
   * @return the kernels, to be closed when no launch is in flight
   */
  public static PeerKernels on(CudaDevice device) {
    return of(device, PeerSource.text(), List.of());
  }

  /**
   * The process's kernels of a device, which every group on it shares: what one has prepared is
   * there for the next.
   *
   * @param device where they will run
   * @return always the same for a device; not to be closed
   */
  public static PeerKernels ofProcess(CudaDevice device) {
    return PROCESS.computeIfAbsent(device, PeerKernels::on);
  }

  /** Kernels of another source or with more options, for tests. */
  static PeerKernels of(CudaDevice device, String source, List<String> moreOptions) {
    return new PeerKernels(device, source, moreOptions);
  }

  /**
   * Compiles and loads what reductions under a contract need; it takes a second or so, unless an
   * earlier process compiled it. Call it while no launch of the group is in flight on the device.
   *
   * @param contract what fixes the bits
   * @throws CollectiveException DEVICE_CALL_FAILED when the compiler or the device refuses; CLOSED
   */
  public void prepare(ReduceContract contract) {
    prepare(new Key(FoldCode.of(contract), false));
  }

  /**
   * Compiles and loads what movement needs, likewise.
   *
   * @param world logical ranks
   * @throws CollectiveException as {@link #prepare} does
   */
  public void prepareMovement(int world) {
    prepare(new Key(FoldCode.of(PeerCall.movement(world)), true));
  }

  private void prepare(Key key) {
    checkOpen();
    ready.computeIfAbsent(key, this::load);
  }

  /**
   * What a call launches.
   *
   * @throws CollectiveException UNSUPPORTED when it was not prepared
   */
  Ready of(PeerCall call) {
    checkOpen();
    Ready found = ready.get(new Key(FoldCode.of(call.contract()), call.kind().isMovement()));
    if (found == null) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "the kernel of %s is not loaded on %s, and loading it behind one that waits for a peer"
              + " would never end: prepare it before the first call",
          call.id(),
          device.name());
    }
    return found;
  }

  CudaDevice device() {
    return device;
  }

  private Ready load(Key key) {
    List<String> options =
        PeerSource.options(key.code(), key.isMovement(), device.info().architecture());
    options.addAll(moreOptions);
    CudaModule module = CudaModule.load(device, FoldCode.cubin(source, options));
    synchronized (modules) {
      modules.add(module);
    }
    CudaKernel kernel = module.kernel("peers");
    return new Ready(kernel, key.code(), kernel.residentBlocks(key.code().threads()));
  }

  private void checkOpen() {
    if (isClosed.get()) {
      throw CollectiveException.usage(
          ErrorCode.CLOSED, "the peer kernels of %s are closed", device.name());
    }
  }

  /** Unloads. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      synchronized (modules) {
        modules.forEach(CudaModule::close);
      }
    }
  }
}
