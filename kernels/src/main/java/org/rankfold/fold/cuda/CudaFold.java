// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaKernel;
import org.rankfold.cuda.CudaModule;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.fold.Fold;
import org.rankfold.fold.FoldArguments;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * The fold on a device, with the bits of the fold on a host. Kernels are compiled when a kind of
 * fold is first asked for, which takes tenths of a second unless an earlier process did, and kept.
 * Thread-safe.
 */
public final class CudaFold implements Fold, AutoCloseable {
  /** How long a blocking fold may take before the device is taken for hung. */
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);

  private final CudaDevice device;
  private final CudaStream stream;
  private final String source;
  private final FoldShape shape;
  private final CubinCache cache;
  private final StagedFold staged;
  private final ConcurrentMap<FoldVariant, CudaKernel> kernels = new ConcurrentHashMap<>();
  private final List<CudaModule> modules = new ArrayList<>();
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private CudaFold(CudaDevice device, String source, FoldShape shape, CubinCache cache) {
    this.device = device;
    this.source = source;
    this.shape = shape;
    this.cache = cache;
    this.stream = CudaStream.create(device);
    this.staged = new StagedFold(this, device);
  }

  /**
   * A fold on a device.
   *
   * @param device where kernels run; their views lie there or on devices it has access to
   * @return the fold, to be closed when nothing of it is in flight
   */
  public static CudaFold on(CudaDevice device) {
    return of(device, FoldSource.text(), FoldShape.DEFAULT);
  }

  /** A fold of another source or shape, for tests and measurements. */
  static CudaFold of(CudaDevice device, String source, FoldShape shape) {
    return new CudaFold(device, source, shape, CubinCache.ofUser());
  }

  /**
   * Folds and waits. Host views travel through device scratch of at most 64 MiB, piece by piece,
   * and one such fold runs at a time; with device views only, nothing is copied. Work of other
   * streams on the views must be done before.
   *
   * @throws CollectiveException as {@link Fold} says; UNSUPPORTED when a view lies on a device out
   *     of reach; CLOSED; MEMORY_STILL_BORROWED when the device was not done after two minutes and
   *     may still write to the outputs; DEVICE_LOST or DEVICE_CALL_FAILED when it failed
   */
  @Override
  public void fold(ReduceContract contract, View[] addends, View[] outs) {
    FoldArguments.check(contract, addends, outs);
    if (addends[0].count() == 0) {
      return;
    }
    if (areOnDevice(addends) && areOnDevice(outs)) {
      foldAndWait(contract, onDevice(addends), onDevice(outs));
    } else {
      staged.fold(contract, addends, outs);
    }
  }

  /**
   * Enqueues a fold and returns. The views' memory must stay alive and unchanged until an event
   * recorded behind it is done.
   *
   * @param contract what fixes the bits
   * @param addends one view for each logical rank, ascending
   * @param outs where the result goes, at least one; each may be the same stretch as an addend
   * @param on a stream of this fold's device
   * @throws CollectiveException as {@link #fold} does for its arguments; nothing was enqueued then
   */
  public void enqueue(
      ReduceContract contract, DeviceView[] addends, DeviceView[] outs, CudaStream on) {
    FoldArguments.check(contract, addends, outs);
    launch(contract, FoldLaunch.scale(contract), addends, outs, addends[0].count(), 0, 1, on);
  }

  /**
   * Enqueues a piece of a contract's fold: some operands in the contract's order, each an addend or
   * the sum of an earlier piece; the mean's multiplication comes with the last piece only. {@link
   * org.rankfold.fold.PartialFold} says which pieces change no bit.
   *
   * @param contract what fixes the bits of the whole fold; not of halves, whose sums are wider
   * @param operands what is combined now, at least one
   * @param out where the sum goes; may be the same stretch as an operand
   * @param isLast whether the result is the fold's
   * @param on a stream of this fold's device
   * @throws CollectiveException as {@link #enqueue} does; UNSUPPORTED for halves
   */
  public void enqueuePiece(
      ReduceContract contract,
      DeviceView[] operands,
      DeviceView out,
      boolean isLast,
      CudaStream on) {
    if (contract.dtype().isHalf()) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "dtype=%s: sums of halves are held in f32, which no device fold mixes with them",
          contract.dtype().label());
    }
    ReduceOp op = contract.op() == ReduceOp.MEAN && !isLast ? ReduceOp.SUM : contract.op();
    ReduceContract piece =
        new ReduceContract(contract.dtype(), op, contract.order(), operands.length);
    DeviceView[] outs = {out};
    FoldArguments.check(piece, operands, outs);
    launch(piece, FoldLaunch.scale(contract), operands, outs, out.count(), 0, 1, on);
  }

  /**
   * Enqueues what some ranks of a mapped reduction do, in one launch: the views are split into
   * shards, one a rank, and rank r folds shard r from all addends and stores it to all outputs. All
   * ranks together fold everything.
   *
   * @param contract what fixes the bits
   * @param addends one view for each logical rank, ascending
   * @param outs where the result goes, at least one; each may be the same stretch as an addend
   * @param ranks how many shards there are
   * @param firstRank the first rank that folds now
   * @param rankCount how many do, at least 1
   * @param on a stream of this fold's device
   * @throws CollectiveException as {@link #fold} does for its arguments; INVALID_ARGUMENT when the
   *     ranks are not inside 0 to ranks - 1; nothing was enqueued then
   */
  public void enqueueShards(
      ReduceContract contract,
      DeviceView[] addends,
      DeviceView[] outs,
      int ranks,
      int firstRank,
      int rankCount,
      CudaStream on) {
    FoldArguments.check(contract, addends, outs);
    if (firstRank < 0 || rankCount < 1 || firstRank > ranks - rankCount) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "firstRank=%d rankCount=%d is not inside ranks=%d",
          firstRank,
          rankCount,
          ranks);
    }
    long shard = FoldLaunch.shardElements(addends[0].count(), ranks, contract.dtype());
    launch(contract, FoldLaunch.scale(contract), addends, outs, shard, firstRank, rankCount, on);
  }

  private void launch(
      ReduceContract contract,
      double scale,
      DeviceView[] addends,
      DeviceView[] outs,
      long shard,
      int firstRank,
      int rankCount,
      CudaStream on) {
    checkReach(addends, "addend");
    checkReach(outs, "out");
    long from = shard * firstRank;
    long count = Math.min(addends[0].count() - from, shard * rankCount);
    if (count <= 0) {
      return;
    }
    FoldVariant variant = FoldVariant.of(contract, shape);
    byte[] arguments =
        FoldLaunch.arguments(contract, scale, addends, outs, variant.capacity(), shard, firstRank);
    long vectorElements = FoldLaunch.VECTOR_BYTES / contract.dtype().bytes();
    long tileElements = variant.tilePieces() * vectorElements;
    long tiles = (Math.min(shard, count) + tileElements - 1) / tileElements;
    int blocks = shape.blocks(tiles, device.info().multiprocessors());
    kernel(variant).launch(blocks, rankCount, shape.threads(), arguments, on);
    for (int i = FoldLaunch.MAX_OUTS; i < outs.length; i++) {
      on.copy(outs[0].slice(from, count), outs[i].slice(from, count));
    }
  }

  void foldAndWait(ReduceContract contract, DeviceView[] addends, DeviceView[] outs) {
    try (CudaEvent done = CudaEvent.create(device)) {
      enqueue(contract, addends, outs, stream);
      done.record(stream);
      done.await(Deadline.after(System.nanoTime(), TIMEOUT_NS), null);
    } catch (CollectiveException e) {
      throw e.code() == ErrorCode.TIMEOUT
          ? new CollectiveException(
              ErrorCode.MEMORY_STILL_BORROWED, e.getMessage(), OutState.PARTLY_WRITTEN, e)
          : e;
    }
  }

  private CudaKernel kernel(FoldVariant variant) {
    if (isClosed.get()) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the fold of %s is closed", device.name());
    }
    return kernels.computeIfAbsent(variant, this::load);
  }

  private CudaKernel load(FoldVariant variant) {
    byte[] cubin = cache.cubin(source, variant.options(device.info().architecture()));
    CudaModule module = CudaModule.load(device, cubin);
    synchronized (modules) {
      modules.add(module);
    }
    return module.kernel("fold");
  }

  private void checkReach(DeviceView[] views, String role) {
    for (int i = 0; i < views.length; i++) {
      if (!device.reaches(views[i].port())) {
        throw CollectiveException.usage(
            ErrorCode.UNSUPPORTED,
            "%s=%d %s is out of reach of %s: enable access first",
            role,
            i,
            views[i],
            device.name());
      }
    }
  }

  private static boolean areOnDevice(View[] views) {
    return Arrays.stream(views).allMatch(DeviceView.class::isInstance);
  }

  private static DeviceView[] onDevice(View[] views) {
    return Arrays.copyOf(views, views.length, DeviceView[].class);
  }

  /** Unloads the kernels and frees the scratch. Doing it again does nothing. */
  @Override
  public void close() {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    staged.close();
    synchronized (modules) {
      modules.forEach(CudaModule::close);
    }
    stream.close();
  }

  @Override
  public String toString() {
    return "cuda fold on " + device.name();
  }
}
