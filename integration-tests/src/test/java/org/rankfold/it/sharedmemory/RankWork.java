// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Folds;
import org.rankfold.view.View;

/** What a task does with its communicator, and the line that says how it went. */
final class RankWork {
  private static final long[] COUNTS = {1, 7, 1000, 100_003};

  private final Communicator communicator;
  private final CommunicatorInfo info;
  private final Memory memory;

  RankWork(Communicator communicator, Memory memory) {
    this.communicator = communicator;
    this.info = communicator.info();
    this.memory = memory;
  }

  /** Words: "work", the memory, what to do, and its numbers. */
  String answer(String... words) {
    return switch (words[2]) {
      case "golden" -> golden();
      case "digest" -> digest(Long.parseLong(words[3]));
      case "random" -> random(Integer.parseInt(words[3]), Long.parseLong(words[4]));
      case "endless" -> endless(Integer.parseInt(words[3]));
      case "once" -> once(Integer.parseInt(words[3]));
      case "broadcast" -> broadcast(Integer.parseInt(words[3]));
      default -> throw new IllegalArgumentException(words[2]);
    };
  }

  private String golden() {
    int equal = 0;
    for (GoldenRow row : GoldenTable.builtIn()) {
      if (row.contract().world() == info.world()) {
        String hash = allReduce(row.contract(), row.kind(), row.seed(), row.n());
        if (!hash.equals(row.sha256())) {
          return "differs: " + row.describe() + ": " + hash + " != " + row.sha256();
        }
        equal++;
      }
    }
    return "equal " + equal;
  }

  private String allReduce(ReduceContract contract, InputKind kind, long seed, long n) {
    try (Memory.Scope scope = new Memory.Scope()) {
      List<View> addends = addends(contract.dtype(), kind, seed, n, scope);
      View out = memory.make(communicator, contract.dtype(), n, scope);
      communicator.allReduce(contract.op(), contract.order(), addends, out);
      return BitDigest.of(out);
    }
  }

  private List<View> addends(DType dtype, InputKind kind, long seed, long n, Memory.Scope scope) {
    List<View> addends = new ArrayList<>();
    for (int r = 0; r < info.rankCount(); r++) {
      View addend = memory.make(communicator, dtype, n, scope);
      OracleInputs.fill(addend, kind, seed, info.firstRank() + r, 0);
      addends.add(addend);
    }
    return addends;
  }

  /** The digest of every collective over inputs whose sums depend on the order of addends. */
  private String digest(long seed) {
    BitDigest digest = new BitDigest();
    for (long n : COUNTS) {
      try (Memory.Scope scope = new Memory.Scope()) {
        List<View> addends = addends(DType.F32, InputKind.SPREAD, seed, n, scope);
        View out = memory.make(communicator, DType.F32, n, scope);
        for (FoldOrder order : FoldOrder.values()) {
          communicator.allReduce(ReduceOp.SUM, order, addends, out);
          digest.update(out);
        }
        View rows = memory.make(communicator, DType.F32, n * info.world(), scope);
        communicator.allGather(addends, rows);
        digest.update(rows);
        List<View> wide = addends(DType.F32, InputKind.SPREAD, seed + 1, n * info.world(), scope);
        List<View> parts = new ArrayList<>();
        for (int r = 0; r < info.rankCount(); r++) {
          parts.add(memory.make(communicator, DType.F32, n, scope));
        }
        communicator.reduceScatter(ReduceOp.MEAN, FoldOrder.RANK_LEFT, wide, parts);
        View whole = memory.make(communicator, DType.F32, n * info.world(), scope);
        communicator.allGather(parts, whole);
        digest.update(whole);
        communicator.broadcast(info.world() - 1, addends.get(0));
        digest.update(addends.get(0));
        communicator.barrier();
      }
    }
    return digest.hex();
  }

  /** Many calls of drawn sizes and types, each compared with the obvious fold. */
  private String random(int calls, long seed) {
    Random random = new Random(seed);
    for (int call = 0; call < calls; call++) {
      int n = random.nextInt(4) == 0 ? random.nextInt(20_000) : random.nextInt(300);
      DType dtype = oneOf(random, DType.values());
      FoldOrder order = oneOf(random, FoldOrder.values());
      InputKind kind = dtype.isFloating() ? InputKind.SPREAD : InputKind.BITS;
      ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, order, info.world());
      String hash = allReduce(contract, kind, call, n);
      View[] addends = new View[info.world()];
      for (int rank = 0; rank < addends.length; rank++) {
        addends[rank] = Memory.HEAP.make(communicator, dtype, n, null);
        OracleInputs.fill(addends[rank], kind, call, rank, 0);
      }
      View out = Memory.HEAP.make(communicator, dtype, n, null);
      Folds.named("scalar").fold(contract, addends, new View[] {out});
      if (!hash.equals(BitDigest.of(out))) {
        return "differs: call=" + call + " seed=" + seed + " " + contract.id() + " x " + n;
      }
    }
    return "equal " + calls;
  }

  @SafeVarargs
  private static <T> T oneOf(Random random, T... choices) {
    return choices[random.nextInt(choices.length)];
  }

  /** Reduces until the group is lost. */
  private String endless(int n) {
    try (Memory.Scope scope = new Memory.Scope()) {
      List<View> addends = addends(DType.F32, InputKind.UNIFORM, 1, n, scope);
      View out = memory.make(communicator, DType.F32, n, scope);
      System.out.println("started");
      while (true) {
        communicator.allReduce(addends, out);
      }
    }
  }

  private String once(int n) {
    return allReduce(
        new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, info.world()),
        InputKind.UNIFORM,
        1,
        n);
  }

  private String broadcast(int n) {
    try (Memory.Scope scope = new Memory.Scope()) {
      View buffer = memory.make(communicator, DType.F32, n, scope);
      if (info.firstRank() == 0) {
        OracleInputs.fill(buffer, InputKind.UNIFORM, 1, 0, 0);
      }
      communicator.broadcast(0, buffer);
      return BitDigest.of(buffer);
    }
  }
}
