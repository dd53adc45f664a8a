// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.collective.Communicators;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.peer.cuda.PeerTimeouts;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.PeerArm;
import org.rankfold.transport.cudapeer.PeerJoin;
import org.rankfold.transport.cudapeer.PeerOptions;
import org.rankfold.view.View;

/** Gives the tasks of a formed group, all on one host, the reach of each other's device memory. */
@InternalApi
public final class PeerGroups {
  /** Room for what a task says of itself in one go. */
  private static final int TEXT_WORDS = 640;

  private PeerGroups() {}

  /**
   * What came of it, the same on every task.
   *
   * @param isReached whether device memory is read and written where it lies from now on
   * @param reason how tasks wait for one another, or why nothing came of it
   */
  public record Outcome(boolean isReached, String reason) {}

  /**
   * Tries to let device memory be reached where it lies from the next call on. Every task calls it
   * at the same point of its calls. Blocks until all have; when nothing comes of it the group is as
   * it was.
   *
   * @param communicator the task's, of a group on one host
   * @param ordinal the device's number in this process
   * @param source the settings
   * @return the outcome
   * @throws CollectiveException when the group is lost meanwhile
   */
  public static Outcome attach(Communicator communicator, int ordinal, ConfigSource source) {
    if (!Communicators.mayReachPeers(communicator)) {
      return new Outcome(
          false,
          String.format(
              Locale.ROOT,
              "transport=%s cannot say who is inside whose memory",
              communicator.info().transport()));
    }
    CommunicatorInfo info = communicator.info();
    RankTable table = new RankTable(info.world(), info.tasks());
    PeerJoin.Outcome joined =
        PeerJoin.join(
            CudaDevice.of(ordinal),
            table,
            info.task(),
            options(source),
            own -> exchange(communicator, table, own));
    if (joined.reachOrNull() != null) {
      Communicators.attach(communicator, joined.reachOrNull());
    }
    return new Outcome(joined.reachOrNull() != null, joined.reason());
  }

  private static PeerOptions options(ConfigSource source) {
    PeerArm most = ConfigKeys.PEER_ARM.of(source).equals("events") ? PeerArm.EVENTS : PeerArm.SPIN;
    long exitNs = ConfigKeys.EXIT_TIMEOUT.of(source);
    // A failed call gives memory up after the exit timeout: a kernel must have ended by then.
    PeerTimeouts timeouts =
        new PeerTimeouts(ConfigKeys.COLLECTIVE_TIMEOUT.of(source), Math.max(1_000_000, exitNs / 2));
    return new PeerOptions(most, ConfigKeys.PEER_PATHS.of(source), timeouts);
  }

  /** Through the group itself: a row for each logical rank, of which a task's first one speaks. */
  private static List<String> exchange(Communicator communicator, RankTable table, String own) {
    byte[] text = own.getBytes(StandardCharsets.UTF_8);
    if (text.length > (TEXT_WORDS - 1) * Integer.BYTES) {
      throw new CollectiveException(
          ErrorCode.INTERNAL, "text of " + text.length + " bytes: " + own);
    }
    int[] words = new int[TEXT_WORDS];
    ByteBuffer bytes = ByteBuffer.allocate(TEXT_WORDS * Integer.BYTES);
    bytes.putInt(text.length).put(text).rewind();
    bytes.asIntBuffer().get(words);
    List<View> rows = new ArrayList<>(List.of(View.of(words)));
    int more = communicator.info().rankCount() - 1;
    for (int r = 0; r < more; r++) {
      rows.add(View.of(new int[TEXT_WORDS]));
    }
    int[] all = new int[TEXT_WORDS * table.world()];
    communicator.allGather(Collections.unmodifiableList(rows), View.of(all));
    List<String> texts = new ArrayList<>();
    for (int task = 0; task < table.tasks(); task++) {
      ByteBuffer row = ByteBuffer.allocate(TEXT_WORDS * Integer.BYTES);
      row.asIntBuffer().put(all, table.firstRank(task) * TEXT_WORDS, TEXT_WORDS);
      texts.add(new String(row.array(), Integer.BYTES, row.getInt(0), StandardCharsets.UTF_8));
    }
    return texts;
  }
}
