// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.global.cudart;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Work of a stream, recorded once and launched again and again with the arguments it had. For one
 * thread at a time.
 */
public final class CudaGraph implements AutoCloseable {
  private final CudaDevice device;
  private final CUgraphExec_st handle;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private CudaGraph(CudaDevice device, CUgraphExec_st handle) {
    this.device = device;
    this.handle = handle;
  }

  /**
   * Records what some code enqueues; nothing of it runs yet.
   *
   * @param stream an owned stream with nothing else enqueued to it meanwhile
   * @param work enqueues to that stream and waits for nothing
   * @return the graph, to be closed when no launch of it is in flight
   * @throws CollectiveException DEVICE_CALL_FAILED when something cannot be recorded
   */
  public static CudaGraph record(CudaStream stream, Runnable work) {
    CudaDevice device = stream.device();
    device.makeCurrent();
    CUgraph_st graph = new CUgraph_st();
    CudaCheck.driver(
        cudart.cuStreamBeginCapture(stream.handle(), cudart.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "cuStreamBeginCapture");
    try {
      work.run();
    } finally {
      CudaCheck.driver(cudart.cuStreamEndCapture(stream.handle(), graph), "cuStreamEndCapture");
    }
    CUgraphExec_st executable = new CUgraphExec_st();
    try {
      CudaCheck.driver(cudart.cuGraphInstantiate(executable, graph, 0), "cuGraphInstantiate");
    } finally {
      CudaCheck.driver(cudart.cuGraphDestroy(graph), "cuGraphDestroy");
    }
    return new CudaGraph(device, executable);
  }

  /**
   * Enqueues the recorded work.
   *
   * @param stream a stream of the device
   */
  public void launch(CudaStream stream) {
    if (isClosed.get()) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "a graph of %s is closed", device.name());
    }
    device.makeCurrent();
    CudaCheck.driver(cudart.cuGraphLaunch(handle, stream.handle()), "cuGraphLaunch");
  }

  /** Gives the graph up. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      device.makeCurrent();
      CudaCheck.driver(cudart.cuGraphExecDestroy(handle), "cuGraphExecDestroy");
    }
  }
}
