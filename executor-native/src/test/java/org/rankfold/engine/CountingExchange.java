// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.List;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.view.DeviceView;

/** An exchange that counts the bytes a task sends through another. */
final class CountingExchange implements DeviceExchange {
  private final DeviceExchange inner;
  private final int tasks;
  private long sentBytes;

  CountingExchange(DeviceExchange inner, int tasks) {
    this.inner = inner;
    this.tasks = tasks;
  }

  long sentBytes() {
    return sentBytes;
  }

  @Override
  public String name() {
    return inner.name();
  }

  @Override
  public CudaDevice device() {
    return inner.device();
  }

  @Override
  public void exchange(List<Move> sends, List<Move> receives, CudaStream on) {
    sentBytes += sends.stream().mapToLong(move -> move.view().byteCount()).sum();
    inner.exchange(sends, receives, on);
  }

  @Override
  public void allGather(DeviceView part, DeviceView whole, CudaStream on) {
    sentBytes += part.byteCount() * (tasks - 1);
    inner.allGather(part, whole, on);
  }

  @Override
  public void check() {
    inner.check();
  }

  @Override
  public void abort() {
    inner.abort();
  }

  @Override
  public void close() {
    inner.close();
  }
}
