// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaIpc;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Folds;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.fold.cuda.DeviceGolden;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * One of two processes on one device, whose memory and events the other maps. The group's channel
 * is a pair of lines of text a step: what this process says, and what it hears.
 */
public final class IpcRank {
  static final int ROUNDS = 6;

  private static final int RANKS = 2;
  private static final int MOST = 65_537;
  private static final String WORD = "IPC ";

  private final int rank;
  private final BufferedReader in;
  private final PrintStream out;

  IpcRank(int rank, BufferedReader in, PrintStream out) {
    this.rank = rank;
    this.in = in;
    this.out = out;
  }

  /** Runs rank 1 over standard input and output. */
  public static void main(String[] args) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<String> digests = new IpcRank(1, in, System.out).run();
    for (int round = 0; round < ROUNDS; round++) {
      if (!digests.get(round).equals(expected(round))) {
        throw new IllegalStateException("round " + round + " of rank 1 is wrong");
      }
    }
  }

  /** The contract of a round: three logical ranks, of which rank 0 hosts two. */
  static ReduceContract contract(int round) {
    DType dtype = round % 2 == 0 ? DType.F32 : DType.BF16;
    FoldOrder order = round % 3 == 0 ? FoldOrder.RANK_TREE : FoldOrder.RANK_LEFT;
    return new ReduceContract(dtype, round % 2 == 0 ? ReduceOp.SUM : ReduceOp.MEAN, order, 3);
  }

  static long count(int round) {
    return List.of(1L, 1024L, 4099L, 65_537L, 3L, 16_384L).get(round);
  }

  /** The digest that every rank must reach, by a host's fold. */
  static String expected(int round) {
    ReduceContract contract = contract(round);
    View[] addends = new View[3];
    for (int l = 0; l < 3; l++) {
      addends[l] = DeviceGolden.host(contract.dtype(), count(round));
      OracleInputs.fill(addends[l], InputKind.CANCEL, round, l, 0);
    }
    Folds.fastest().fold(contract, addends, new View[] {addends[0]});
    return BitDigest.of(addends[0]);
  }

  /** Takes part in every round; the digests of this rank's outputs. */
  List<String> run() throws IOException {
    CudaDevice device = CudaDevice.of(0);
    long slot = (4L * MOST + 255) / 256 * 256;
    List<String> digests = new ArrayList<>();
    try (DeviceMemory arena = DeviceMemory.allocate(device, 3 * slot);
        CudaStream stream = CudaStream.create(device);
        CudaFold fold = CudaFold.on(device);
        CudaEvent ready = CudaEvent.createShared(device);
        CudaEvent pushed = CudaEvent.createShared(device)) {
      HexFormat hex = HexFormat.of();
      String peerArena = swap(hex.formatHex(CudaIpc.handle(arena.view(DType.I32))));
      long mapped = CudaIpc.open(device, hex.parseHex(peerArena));
      byte[] readyHandle = hex.parseHex(swap(hex.formatHex(ready.ipcHandle())));
      byte[] pushedHandle = hex.parseHex(swap(hex.formatHex(pushed.ipcHandle())));
      try (CudaEvent peerReady = CudaEvent.openShared(device, readyHandle);
          CudaEvent peerPushed = CudaEvent.openShared(device, pushedHandle)) {
        List<CudaEvent> readies = rank == 0 ? List.of(ready, peerReady) : List.of(peerReady, ready);
        List<CudaEvent> pushes =
            rank == 0 ? List.of(pushed, peerPushed) : List.of(peerPushed, pushed);
        EventRank event = new EventRank(fold, stream, rank, readies, pushes);
        DeviceMemory peer = DeviceMemory.borrow(device, mapped, 3 * slot);
        List<DeviceMemory> arenas = rank == 0 ? List.of(arena, peer) : List.of(peer, arena);
        for (int round = 0; round < ROUNDS; round++) {
          digests.add(round(event, stream, arenas, slot, round));
        }
        // Nobody frees what the other still maps.
        swap("done");
      }
      CudaIpc.close(device, mapped);
      swap("unmapped");
    }
    return digests;
  }

  private String round(
      EventRank event, CudaStream stream, List<DeviceMemory> arenas, long slot, int round)
      throws IOException {
    ReduceContract contract = contract(round);
    DType dtype = contract.dtype();
    long count = count(round);
    // Slots of an arena: its rank's addends, then the output. Rank 0 hosts logical ranks 0 and 1.
    DeviceView[] addends = {
      arenas.get(0).view(dtype, 0, count),
      arenas.get(0).view(dtype, slot, count),
      arenas.get(1).view(dtype, 0, count)
    };
    DeviceView[] outs = new DeviceView[RANKS];
    for (int r = 0; r < RANKS; r++) {
      outs[r] = arenas.get(r).view(dtype, 2 * slot, count);
    }
    View host = DeviceGolden.host(dtype, count);
    for (int l = rank == 0 ? 0 : 2; l < (rank == 0 ? 2 : 3); l++) {
      OracleInputs.fill(host, InputKind.CANCEL, round, l, 0);
      host.copyTo(addends[l]);
    }
    event.markReady();
    swap("ready " + round);
    event.pushShard(contract, addends, outs);
    swap("pushed " + round);
    event.awaitPushed();
    Ranks.await(stream);
    String digest = BitDigest.of(outs[rank]);
    swap("awaited " + round);
    return digest;
  }

  /** Says a line and hears the peer's; whatever else a JVM prints is passed by. */
  private String swap(String said) throws IOException {
    out.println(WORD + said);
    out.flush();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.startsWith(WORD)) {
        return line.substring(WORD.length());
      }
      System.err.println("peer: " + line);
    }
    throw new IOException("rank " + (1 - rank) + " ended at: " + said);
  }
}
