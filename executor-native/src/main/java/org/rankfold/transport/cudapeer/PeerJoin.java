// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import org.rankfold.InternalApi;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaDeviceInfo;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaIpc;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.peer.cuda.PeerMemory;
import org.rankfold.peer.cuda.PeerSeat;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;

/**
 * How the tasks of one host find out how they reach one another's devices, and map what they need
 * of each other. Every task takes the same steps, also one that fails, so that all conclude the
 * same: the reach, or one reason why there is none.
 */
@InternalApi
public final class PeerJoin {
  /** Most tasks whose kernels wait for one another: the words of a line. */
  private static final int MOST_SPINNING = 8;

  /** Staging of a task, both sets together; operands that need more are not pushed. */
  private static final long MOST_STAGING_BYTES = 64L << 20;

  private static final int WORDS = -1;
  private static final int STAGING = -2;

  /** Says something to all tasks and hears what each said, in task order; blocks until all have. */
  @FunctionalInterface
  public interface Channel {
    /**
     * Exchanges.
     *
     * @param own what this task says, at most 2,000 bytes of UTF-8
     * @return what every task said, this one included
     */
    List<String> exchange(String own);
  }

  /**
   * What came of it, the same on every task.
   *
   * @param reachOrNull the reach
   * @param reason why there is none, or which arm was taken and why not more
   */
  public record Outcome(PeerReach reachOrNull, String reason) {}

  private final CudaDevice device;
  private final RankTable table;
  private final int task;
  private final PeerOptions options;
  private final Channel channel;
  private List<PeerRow> identities;
  private List<Boolean> isLocal;
  private String armReason;

  private PeerJoin(
      CudaDevice device, RankTable table, int task, PeerOptions options, Channel channel) {
    this.device = device;
    this.table = table;
    this.task = task;
    this.options = options;
    this.channel = channel;
  }

  /**
   * Joins. Blocks as long as the channel does.
   *
   * @param device this task's
   * @param table who hosts what
   * @param task this task
   * @param options the same on every task
   * @param channel between all tasks
   * @return the outcome
   * @throws CollectiveException what the channel throws; the group is lost then
   */
  public static Outcome join(
      CudaDevice device, RankTable table, int task, PeerOptions options, Channel channel) {
    return new PeerJoin(device, table, task, options, channel).join();
  }

  private Outcome join() {
    identities = exchange(this::identity);
    String refusal = firstFailure(identities);
    if (refusal != null) {
      return new Outcome(null, refusal);
    }
    for (int peer = 1; peer < table.tasks(); peer++) {
      for (String name : List.of("paths", "most")) {
        String theirs = identities.get(peer).text(name);
        String first = identities.get(0).text(name);
        if (!theirs.equals(first)) {
          return new Outcome(
              null,
              "task " + peer + " " + name + "=" + theirs + " != task 0 " + name + "=" + first);
        }
      }
    }
    isLocal =
        identities.stream().map(row -> row.text("process").equals(PeerSeats.PROCESS)).toList();
    List<PeerRow> abilities = exchange(this::ability);
    refusal = firstFailure(abilities);
    if (refusal != null) {
      return new Outcome(null, refusal);
    }
    PeerArm arm = arm(abilities);
    if (arm == PeerArm.NONE) {
      return new Outcome(null, armReason);
    }
    return open(arm);
  }

  private PeerRow identity() {
    options.table(PeerArm.EVENTS, table.tasks());
    return new PeerRow()
        .put("process", PeerSeats.PROCESS)
        .put("uuid", device.info().uuid())
        .put("pci", device.info().pciId())
        .put("most", options.most().name())
        .put("paths", options.paths());
  }

  /**
   * What this task can do with every peer's device, and the first thing that keeps it from more.
   */
  private PeerRow ability() {
    PeerArm able = options.most();
    String reason = able == PeerArm.SPIN ? "every task has a GPU of its own" : "as it was set";
    Set<String> uuids = new HashSet<>();
    for (PeerRow row : identities) {
      if (able == PeerArm.SPIN && !uuids.add(row.text("uuid"))) {
        able = PeerArm.EVENTS;
        reason = "tasks share GPU " + row.text("pci");
      }
    }
    if (able == PeerArm.SPIN && table.tasks() > MOST_SPINNING) {
      able = PeerArm.EVENTS;
      reason = "tasks=" + table.tasks() + " > " + MOST_SPINNING;
    }
    for (int peer = 0; peer < table.tasks(); peer++) {
      PeerRow row = identities.get(peer);
      if (row.text("uuid").equals(device.info().uuid())) {
        continue;
      }
      String pair = device.info().pciId() + " and " + row.text("pci");
      CudaDevice theirs = visible(row.text("pci"));
      if (theirs == null) {
        if (able == PeerArm.SPIN) {
          able = PeerArm.EVENTS;
          reason = "task " + task + " does not see GPU " + row.text("pci") + ", so not its atomics";
        }
      } else if (!device.enableAccessTo(theirs)) {
        return new PeerRow()
            .put("arm", PeerArm.NONE.name())
            .put("why", "GPUs " + pair + " have no access to each other's memory");
      } else if (able == PeerArm.SPIN && !device.hasAtomicsOn(theirs)) {
        able = PeerArm.EVENTS;
        reason = "GPUs " + pair + " have no native atomics on each other";
      }
    }
    return new PeerRow().put("arm", able.name()).put("why", reason);
  }

  private static CudaDevice visible(String pciId) {
    for (CudaDeviceInfo info : CudaProbe.process().devices()) {
      if (info.pciId().equals(pciId)) {
        return CudaDevice.of(info.ordinal());
      }
    }
    return null;
  }

  private PeerArm arm(List<PeerRow> abilities) {
    PeerArm least = PeerArm.SPIN;
    armReason = abilities.get(0).text("why");
    for (PeerRow row : abilities) {
      PeerArm able = PeerArm.valueOf(row.text("arm"));
      if (able.compareTo(least) < 0) {
        least = able;
        armReason = row.text("why");
      }
    }
    return least;
  }

  private Outcome open(PeerArm arm) {
    PeerMappings words = new PeerMappings(device);
    List<CudaEvent> ready = new ArrayList<>();
    List<PeerSeat> seats = new ArrayList<>();
    PeerMemory[] own = new PeerMemory[1];
    String[] name = new String[1];
    CudaEvent[] event = new CudaEvent[1];
    List<PeerRow> offers =
        exchange(
            () -> {
              event[0] = CudaEvent.createShared(device);
              name[0] = PeerSeats.LOCAL.add(event[0]);
              PeerRow offer = new PeerRow().put("event", name[0]);
              boolean isAlone = areAllLocal();
              offer.put("eventHandle", isAlone ? new byte[0] : event[0].ipcHandle());
              if (arm == PeerArm.SPIN) {
                own[0] = PeerMemory.allocate(device, setBytes(arm));
                offer(offer, "words", own[0].words(), isAlone);
                offer(offer, "staging", own[0].staging(), isAlone);
                offer.put("setBytes", own[0].seat().setBytes());
              }
              return offer;
            });
    String refusal = firstFailure(offers);
    List<PeerRow> opened =
        exchange(
            () -> {
              if (firstFailure(offers) == null) {
                for (int peer = 0; peer < table.tasks(); peer++) {
                  open(peer, offers.get(peer), arm, words, ready, seats);
                }
              }
              return new PeerRow();
            });
    refusal = refusal == null ? firstFailure(opened) : refusal;
    PeerSeats.LOCAL.remove(name[0] == null ? "" : name[0]);
    if (refusal == null) {
      return new Outcome(
          new PeerReach(
              new PeerReach.Joined(
                  device, table, task, arm, options, isLocal, own[0], seats, words, ready)),
          describe(arm));
    }
    words.close();
    for (int peer = 0; peer < ready.size(); peer++) {
      if (peer != task && !isLocal.get(peer)) {
        ready.get(peer).close();
      }
    }
    // Nobody frees what a peer has still mapped.
    exchange(PeerRow::new);
    if (event[0] != null) {
      event[0].close();
    }
    if (own[0] != null) {
      own[0].close();
    }
    return new Outcome(null, refusal);
  }

  private String describe(PeerArm arm) {
    String how = arm == PeerArm.SPIN ? "kernels wait on the device" : "streams wait for events";
    return String.format(
        Locale.ROOT,
        "%s (%s); %s",
        how,
        armReason,
        areAllLocal() ? "peer access in one process" : "CUDA IPC between processes");
  }

  private boolean areAllLocal() {
    return !isLocal.contains(false);
  }

  /** Room for what is pushed whole, once for each logical rank. */
  private long setBytes(PeerArm arm) {
    long most = options.table(arm, table.tasks()).mostOneShotBytes();
    return Math.min(MOST_STAGING_BYTES / 2, (Math.min(most, 1L << 40) + 256) * table.world());
  }

  private static void offer(PeerRow offer, String name, DeviceView whole, boolean isAlone) {
    offer.put(name, whole.address());
    offer.put(name + "Bytes", whole.byteCount());
    offer.put(name + "Handle", isAlone ? new byte[0] : CudaIpc.handle(whole));
  }

  private void open(
      int peer,
      PeerRow offer,
      PeerArm arm,
      PeerMappings words,
      List<CudaEvent> ready,
      List<PeerSeat> seats) {
    ready.add(
        isLocal.get(peer)
            ? PeerSeats.LOCAL.of(offer.text("event"))
            : CudaEvent.openShared(ofPeer(peer), offer.bytes("eventHandle")));
    if (arm == PeerArm.SPIN) {
      seats.add(
          new PeerSeat(
              identities.get(peer).text("uuid"),
              address(peer, offer, "words", WORDS, words),
              address(peer, offer, "staging", STAGING, words),
              offer.number("setBytes")));
    }
  }

  /** The peer's device in this process, or this task's own where it is not visible. */
  private CudaDevice ofPeer(int peer) {
    CudaDevice theirs = visible(identities.get(peer).text("pci"));
    return theirs == null ? device : theirs;
  }

  private long address(int peer, PeerRow offer, String name, int number, PeerMappings words) {
    long bytes = offer.number(name + "Bytes");
    if (isLocal.get(peer)) {
      words.addLocal(peer, number, offer.number(name), bytes);
    } else {
      words.open(peer, number, bytes, offer.bytes(name + "Handle"));
    }
    return words.address(peer, number, 0);
  }

  /** Takes a step and tells what came of it; a step that fails is told as well. */
  private List<PeerRow> exchange(Supplier<PeerRow> step) {
    PeerRow own;
    try {
      own = step.get();
    } catch (CollectiveException e) {
      own = PeerRow.failed(e);
    }
    List<PeerRow> rows = new ArrayList<>();
    for (String text : channel.exchange(own.encode())) {
      rows.add(PeerRow.decode(text));
    }
    if (rows.size() != table.tasks()) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL, "rows=" + rows.size() + " != tasks=" + table.tasks());
    }
    return rows;
  }

  private static String firstFailure(List<PeerRow> rows) {
    for (int peer = 0; peer < rows.size(); peer++) {
      if (rows.get(peer).failure() != null) {
        return "task " + peer + ": " + rows.get(peer).failure();
      }
    }
    return null;
  }
}
