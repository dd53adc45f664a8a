// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.view.View;

/** One task's device and how it meets others, which are processes that share a folder. */
final class NcclRank implements AutoCloseable {
  static final NcclTimeouts TIMEOUTS =
      new NcclTimeouts(TimeUnit.SECONDS.toNanos(20), TimeUnit.SECONDS.toNanos(5));

  final CudaDevice device;
  final CudaFold fold;
  final CudaStream stream;
  private final Path folder;

  NcclRank(Path folder) throws IOException {
    if (!"0".equals(System.getenv("NCCL_NVLS_ENABLE"))) {
      throw new IllegalStateException("NCCL_NVLS_ENABLE=0 must be set wherever NCCL starts");
    }
    this.folder = folder;
    NcclSocketInterface.PROCESS.choose(InetAddress.getLoopbackAddress());
    NcclLibrary.process().require();
    this.device = CudaDevice.of(0);
    this.fold = CudaFold.on(device);
    this.stream = CudaStream.create(device);
  }

  /** Forms a group with the other tasks; each group has a name of its own. */
  NcclExchange open(String group, int tasks, int task, long seconds, AbortLatch latch)
      throws Exception {
    Deadline deadline = Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(seconds));
    Path file = folder.resolve("id-" + group);
    byte[] id;
    if (task == 0) {
      id = NcclExchange.uniqueId();
      Path written = Files.write(folder.resolve("new-" + group), id);
      Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    } else {
      while (!Files.exists(file)) {
        if (deadline.isExpired(System.nanoTime())) {
          throw new IllegalStateException("no id of group " + group);
        }
        Thread.sleep(2);
      }
      id = Files.readAllBytes(file);
    }
    return NcclExchange.open(device, tasks, task, id, TIMEOUTS, deadline, latch);
  }

  /** Writes a row's input of a rank. */
  static void fill(StagedAllReduce call, GoldenRow row, int rank) {
    DType dtype = row.contract().dtype();
    View host = host(dtype, row.n());
    OracleInputs.fill(host, row.kind(), row.seed(), rank, 0);
    host.copyTo(call.addend());
  }

  static View host(DType dtype, long count) {
    return View.of(ByteBuffer.allocateDirect(Math.toIntExact(count * dtype.bytes())), dtype);
  }

  /** Threads of NCCL and of its owner, and sockets, of this process. */
  static String belongings() throws IOException {
    long threads = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path thread : all) {
        String name = read(thread.resolve("comm"));
        threads += name.startsWith("NCCL") || name.startsWith("rankfold-nccl") ? 1 : 0;
      }
    }
    long sockets = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : all) {
        sockets += link(descriptor).startsWith("socket:") ? 1 : 0;
      }
    }
    return "threads=" + threads + " sockets=" + sockets;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "ended";
    }
  }

  private static String link(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "the folder's own, gone";
    }
  }

  @Override
  public void close() {
    stream.close();
    fold.close();
  }
}
