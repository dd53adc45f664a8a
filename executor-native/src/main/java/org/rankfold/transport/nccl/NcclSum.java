// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.nccl;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaStream;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

/**
 * NCCL's own all-reduce, the unordered tier: the library chooses the order of additions by size,
 * tasks and links, so equal inputs may give other bits on other days. For comparisons and for users
 * who ask for it by name; no contract holds, and everything it makes is labelled {@link #LABEL}.
 */
public final class NcclSum {
  /** How results of this tier are called wherever they appear. */
  public static final String LABEL = "NCCL_SUM (unordered)";

  private final NcclExchange exchange;

  private NcclSum(NcclExchange exchange) {
    this.exchange = exchange;
  }

  /**
   * The sum over the tasks of an exchange; its calls count as the exchange's.
   *
   * @param exchange whose tasks; stays the caller's
   * @return the sum, which needs no closing
   */
  public static NcclSum over(NcclExchange exchange) {
    return new NcclSum(exchange);
  }

  /**
   * Enqueues the unordered sum of all tasks' addends and returns.
   *
   * @param addend this task's
   * @param out where the sum goes: the same stretch as the addend, or apart from it
   * @param on a stream of the exchange's device
   * @throws CollectiveException INVALID_ARGUMENT when type or count differ; else as {@link
   *     NcclExchange#exchange} says
   */
  public void enqueue(DeviceView addend, DeviceView out, CudaStream on) {
    if (addend.dtype() != out.dtype() || addend.count() != out.count()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "addend %s != out %s", addend, out);
    }
    if (addend.count() == 0) {
      return;
    }
    CUstream_st stream = RawAddress.stream(on);
    exchange.enqueue(
        "ncclAllReduce",
        on,
        () ->
            nccl.ncclAllReduce(
                RawAddress.of(addend),
                RawAddress.of(out),
                addend.count(),
                type(addend.dtype()),
                nccl.ncclSum,
                exchange.communicator().handle(),
                stream));
  }

  static int type(DType dtype) {
    return switch (dtype) {
      case F32 -> nccl.ncclFloat32;
      case F64 -> nccl.ncclFloat64;
      case F16 -> nccl.ncclFloat16;
      case BF16 -> nccl.ncclBfloat16;
      case I32 -> nccl.ncclInt32;
      case I64 -> nccl.ncclInt64;
    };
  }
}
