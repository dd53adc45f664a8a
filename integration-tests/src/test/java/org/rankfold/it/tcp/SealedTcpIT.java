// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.digest.GoldenRow;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupSpec;
import org.rankfold.group.TcpGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.view.View;
import org.rankfold.wire.GroupSecret;
import org.rankfold.wire.WireRefusal;

/** Encrypted groups over real sockets: the bits, and whoever meddles on the way. */
@Timeout(300)
class SealedTcpIT {
  private static final String SPOKEN = "what a stranger must not read 00";

  /** One call to agree on; the meddled record comes later. */
  private static final int CALLS = 50;

  @ParameterizedTest
  @CsvSource({"127.0.0.1, 3, 256k, true", "::1, 4, 4k, false", "127.0.0.1, 2, 1m, false"})
  void shouldGiveTheGoldenBitsWhenEncrypted(String host, int tasks, String chunk, boolean direct)
      throws Exception {
    for (int world : GoldenRanks.worlds()) {
      List<GoldenRow> rows = GoldenRanks.rows(world, 5);
      int hosts = Math.min(tasks, world);
      List<List<String>> hashes =
          TcpThreads.results(
              host,
              world,
              hosts,
              Map.of("spark.rankfold.chunk.bytes", chunk),
              true,
              communicator -> {
                List<String> own = new ArrayList<>();
                for (GoldenRow row : rows) {
                  own.add(GoldenRanks.allReduce(communicator, row, direct));
                }
                return own;
              });
      for (int task = 0; task < hosts; task++) {
        assertEquals(rows.stream().map(GoldenRow::sha256).toList(), hashes.get(task));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldShowElementsToAStrangerOnTheWayOnlyWhenNotEncrypted(boolean encrypt) throws Exception {
    try (Meddled group = new Meddled(encrypt, WireMeddler.Deed.NOTHING)) {
      assertThat(group.outcomes()).containsExactly("ended", "ended");
      String seen = new String(group.meddler.seen(), StandardCharsets.ISO_8859_1);
      assertThat(seen.length()).isGreaterThan(CALLS * SPOKEN.length());
      assertEquals(!encrypt, seen.contains(SPOKEN));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "FLIP_A_BIT, BAD_SEAL, was changed on its way",
    "REPLAY, OUT_OF_SEQUENCE, record=5 != 6",
    "REORDER, OUT_OF_SEQUENCE, record=6 != 5"
  })
  void shouldEndTheGroupWithANamedErrorWhenARecordIsMeddledWith(
      WireMeddler.Deed deed, WireRefusal refusal, String text) throws Exception {
    try (Meddled group = new Meddled(true, deed)) {
      List<Object> outcomes = group.outcomes();
      assertThat(outcomes).hasOnlyElementsOfType(CollectiveException.class);
      CollectiveException found = (CollectiveException) outcomes.get(0);
      assertEquals(ErrorCode.PROTOCOL, found.code(), found::getMessage);
      assertThat(found).hasMessageContaining(refusal + ": ").hasMessageContaining(text);
      // Who refuses bytes says why and closes. Where more has come meanwhile the system resets the
      // connection, and the last words may be lost with it.
      CollectiveException told = (CollectiveException) outcomes.get(1);
      if (told.code() == ErrorCode.PEER_FAILED) {
        assertThat(told).hasMessageContaining("closed its connection without leaving");
      } else {
        assertEquals(ErrorCode.PROTOCOL, told.code(), told::getMessage);
        assertThat(told).hasMessageContaining(refusal + ": ").hasMessageContaining(text);
      }
      assertEquals(1, group.zero.refused(refusal));
      assertEquals(0, group.zero.bufferBytes());
    }
  }

  @Test
  void shouldNotMeetATaskThatDoesNotEncrypt() throws Exception {
    try (Meddled group = new Meddled(true, false, WireMeddler.Deed.NOTHING)) {
      assertThat(group.outcomes())
          .allSatisfy(
              outcome ->
                  assertThat((CollectiveException) outcome)
                      .extracting(CollectiveException::code)
                      .isEqualTo(ErrorCode.BOOTSTRAP_FAILED));
      assertThat(group.zero.refused(WireRefusal.TERMS_DIFFER)).isPositive();
    }
  }

  /** Two tasks with somebody between them. */
  private static final class Meddled implements AutoCloseable {
    private final GroupSecret secret = TcpThreads.secret("meddled");
    private final TcpListener zero = TcpThreads.listener("127.0.0.1");
    private final TcpListener one = TcpThreads.listener("127.0.0.1");
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final boolean encryptZero;
    private final boolean encryptOne;
    private final WireMeddler meddler;

    Meddled(boolean encrypt, WireMeddler.Deed deed) throws Exception {
      this(encrypt, encrypt, deed);
    }

    Meddled(boolean encryptZero, boolean encryptOne, WireMeddler.Deed deed) throws Exception {
      this.encryptZero = encryptZero;
      this.encryptOne = encryptOne;
      this.meddler = new WireMeddler(zero.address(), encryptOne, deed);
    }

    List<Object> outcomes() throws Exception {
      List<Future<Object>> futures =
          List.of(
              threads.submit(() -> task(0, zero, zero.address(), encryptZero)),
              threads.submit(() -> task(1, one, meddler.address(), encryptOne)));
      List<Object> outcomes = new ArrayList<>();
      for (Future<Object> future : futures) {
        try {
          outcomes.add(future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
          outcomes.add(e.getCause());
        }
      }
      return outcomes;
    }

    private Object task(int task, TcpListener listener, InetSocketAddress first, boolean encrypt) {
      GroupSpec spec =
          new GroupSpec(secret, new RankTable(2, 2), task, List.of(first, one.address()), encrypt);
      ConfigSource settings = ConfigSource.of(Map.of("spark.rankfold.timeout.connect", "3s"));
      try (Communicator communicator =
          TcpGroups.open(listener, spec, settings, CollectiveMetrics.NONE)) {
        byte[] spoken = SPOKEN.getBytes(StandardCharsets.ISO_8859_1);
        int[] row = new int[spoken.length / Integer.BYTES];
        java.nio.ByteBuffer.wrap(spoken)
            .order(java.nio.ByteOrder.LITTLE_ENDIAN)
            .asIntBuffer()
            .get(row);
        for (int call = 0; call < CALLS; call++) {
          int[] all = new int[2 * row.length];
          communicator.allGather(List.of(View.of(row)), View.of(all));
          assertThat(Arrays.copyOf(all, row.length)).isEqualTo(row);
        }
        communicator.barrier();
        return "ended";
      }
    }

    @Override
    public void close() {
      threads.shutdownNow();
      meddler.close();
      zero.close();
      one.close();
    }
  }
}
