// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.GoldenRow;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.group.GroupSpec;
import org.rankfold.group.TcpGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.view.View;
import org.rankfold.wire.DialerHandshake;
import org.rankfold.wire.GroupSecret;
import org.rankfold.wire.GroupTerms;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.WireRefusal;

/** Groups over real sockets: bits, usage errors, strangers, aborts, interrupts. */
@Timeout(300)
class TcpGroupIT {
  private static final String V4 = "127.0.0.1";

  private static final int CHUNK_BYTES = 256 << 10;

  /** The world whose rows are so long that the smallest chunks would take minutes. */
  private static final int LARGE_WORLD = 4;

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, 2, 256k, true, 1",
    "127.0.0.1, 3, 4k, false, 1",
    "127.0.0.1, 4, 64, true, 1",
    "::1, 2, 8, false, 7",
    "::1, 3, 256k, true, 7",
    "::1, 4, 4k, false, 7"
  })
  void shouldGiveTheGoldenBitsWhateverTasksChunksAndMemory(
      String host, int tasks, String chunk, boolean direct, int step) throws Exception {
    for (int world : GoldenRanks.worlds()) {
      List<GoldenRow> rows = GoldenRanks.rows(world, step);
      int hosts = Math.min(tasks, world);
      List<List<String>> hashes =
          TcpThreads.results(
              host,
              world,
              hosts,
              Map.of("spark.rankfold.chunk.bytes", world == LARGE_WORLD ? "16k" : chunk),
              communicator -> {
                List<String> own = new ArrayList<>();
                for (GoldenRow row : rows) {
                  own.add(GoldenRanks.allReduce(communicator, row, direct));
                }
                return own;
              });
      for (int i = 0; i < rows.size(); i++) {
        for (int task = 0; task < hosts; task++) {
          assertEquals(
              rows.get(i).sha256(),
              hashes.get(task).get(i),
              rows.get(i).describe() + " tasks=" + hosts + " task=" + task);
        }
      }
    }
  }

  @Test
  void shouldScatterGatherAndBroadcastAcrossChunks() throws Exception {
    int world = 5;
    int part = 3000;
    List<Integer> done =
        TcpThreads.results(
            V4,
            world,
            3,
            Map.of("spark.rankfold.chunk.bytes", "4k"),
            communicator -> {
              int first = communicator.info().firstRank();
              int count = communicator.info().rankCount();
              List<View> addends = new ArrayList<>();
              List<int[]> parts = new ArrayList<>();
              for (int r = 0; r < count; r++) {
                int[] addend = new int[world * part];
                for (int i = 0; i < addend.length; i++) {
                  addend[i] = i * (first + r + 1);
                }
                addends.add(View.of(addend));
                parts.add(new int[part]);
              }
              List<View> outs = parts.stream().map(View::of).toList();
              communicator.reduceScatter(ReduceOp.SUM, FoldOrder.RANK_LEFT, addends, outs);
              int[] rows = new int[world * part];
              communicator.allGather(outs, View.of(rows));
              for (int i = 0; i < rows.length; i++) {
                assertEquals(15 * i, rows[i]);
              }
              int[] buffer = first == 4 ? rows : new int[rows.length];
              communicator.broadcast(4, View.of(buffer));
              assertEquals(15 * (rows.length - 1), buffer[rows.length - 1]);
              communicator.barrier();
              return 1;
            });
    assertEquals(List.of(1, 1, 1), done);
  }

  @Test
  void shouldRefuseTheSameOnEveryTaskAndGoOn() throws Exception {
    List<String> texts =
        TcpThreads.results(
            V4,
            3,
            3,
            Map.of(),
            communicator -> {
              int task = communicator.info().task();
              StringBuilder text = new StringBuilder();
              for (int round = 0; round < 20; round++) {
                float[] x = new float[task == 2 ? 1000 : 100_000];
                text.append(usage(communicator, List.of(View.of(x)), View.of(x)));
                float[] y = new float[100];
                List<View> twice =
                    task == 1 ? List.of(View.of(y), View.of(y)) : List.of(View.of(y));
                text.append(usage(communicator, twice, View.of(y)));
                float[] z = {task, 1};
                communicator.allReduce(List.of(View.of(z)), View.of(z));
                assertEquals(3f, z[0]);
                assertEquals(3f, z[1]);
              }
              return text.toString();
            });
    assertThat(texts.get(0)).contains("rank=2 length=1000 != rank=0 length=100000");
    assertThat(texts.get(0)).contains("refused by logical rank 1 (task 1)");
    assertEquals(texts.get(0), texts.get(1));
    assertEquals(texts.get(0), texts.get(2));
  }

  private static String usage(Communicator communicator, List<View> addends, View out) {
    CollectiveException refused =
        assertThrows(CollectiveException.class, () -> communicator.allReduce(addends, out));
    assertEquals(OutState.UNTOUCHED, refused.outState());
    return refused.getMessage() + "\n";
  }

  @Test
  void shouldEndEveryTaskWithTheFirstCauseWhenOneFailsInItsOwnCode() throws Exception {
    long startNs = System.nanoTime();
    List<Object> outcomes =
        TcpThreads.outcomes(
            V4,
            3,
            3,
            Map.of(),
            communicator -> {
              float[] x = new float[1 << 20];
              communicator.allReduce(List.of(View.of(x)), View.of(x));
              if (communicator.info().task() == 1) {
                throw new IllegalStateException("the user's own");
              }
              communicator.allReduce(List.of(View.of(x)), View.of(x));
              return 1;
            });
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(20));
    assertThat(outcomes.get(1)).isInstanceOf(IllegalStateException.class);
    for (int task : new int[] {0, 2}) {
      CollectiveException lost = (CollectiveException) outcomes.get(task);
      assertEquals(ErrorCode.PEER_FAILED, lost.code());
      assertThat(lost.getMessage()).contains("logical rank 1 (task 1)", "the user's own");
    }
  }

  @Test
  void shouldTellATaskInItsOwnCodeThatTheGroupIsLost() throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    List<Object> outcomes =
        TcpThreads.outcomes(
            V4,
            2,
            2,
            Map.of(),
            communicator -> {
              communicator.barrier();
              if (communicator.info().task() == 1) {
                failed.countDown();
                throw new IllegalStateException("gone");
              }
              failed.await();
              long startNs = System.nanoTime();
              while (System.nanoTime() - startNs < 10_000_000_000L) {
                communicator.checkAbort();
                Thread.sleep(1);
              }
              return 1;
            });
    assertThat(outcomes.get(0)).isInstanceOf(CollectiveException.class);
    assertThat(((CollectiveException) outcomes.get(0)).getMessage()).contains("gone");
  }

  @Test
  void shouldTellThatAPeerLeftInGoodOrder() throws Exception {
    List<Object> outcomes =
        TcpThreads.outcomes(
            V4,
            2,
            2,
            Map.of(),
            communicator -> {
              communicator.barrier();
              if (communicator.info().task() == 0) {
                communicator.barrier();
              }
              return 1;
            });
    assertEquals(1, outcomes.get(1));
    CollectiveException lost = (CollectiveException) outcomes.get(0);
    assertEquals(ErrorCode.PEER_FAILED, lost.code());
    assertThat(lost.getMessage())
        .contains("logical rank 1 (task 1) closed its communicator after call #1");
  }

  @Test
  void shouldKeepConnectionsOpenWhenATaskIsInterruptedWhileItMovesBytes() throws Exception {
    List<Object> outcomes =
        TcpThreads.outcomes(
            V4,
            2,
            2,
            Map.of(),
            communicator -> {
              float[] x = new float[1 << 18];
              for (int call = 0; call < 50; call++) {
                if (communicator.info().task() == 0) {
                  Thread.currentThread().interrupt();
                }
                try {
                  communicator.allReduce(List.of(View.of(x)), View.of(x));
                } finally {
                  Thread.interrupted();
                }
              }
              return 1;
            });
    for (Object outcome : outcomes) {
      if (outcome instanceof CollectiveException lost) {
        // An interrupt may cancel the call; it may not look like a failed connection.
        assertEquals(ErrorCode.CANCELLED, lost.code(), lost.getMessage());
      } else {
        assertEquals(1, outcome);
      }
    }
  }

  @Test
  void shouldRefuseStrangersAndStillFormTheGroup() throws Exception {
    try (TcpListener zero = TcpThreads.listener(V4);
        TcpListener one = TcpThreads.listener(V4)) {
      List<InetSocketAddress> addresses = List.of(zero.address(), one.address());
      RankTable table = new RankTable(2, 2);
      GroupSecret secret = TcpThreads.secret("strangers");
      stranger(zero, "GET / HTTP/1.1\r\n\r\n".repeat(8).getBytes(StandardCharsets.US_ASCII));
      stranger(zero, new byte[96]);
      awaitRefused(zero, WireRefusal.BAD_MAGIC, 2);

      Thread first =
          new Thread(
              () -> {
                try (Communicator c = open(zero, secret, table, 0, addresses)) {
                  c.barrier();
                }
              });
      first.start();
      GroupSecret wrong =
          new GroupSecret("strangers", "not the secret at all".getBytes(StandardCharsets.UTF_8));
      CollectiveException refused =
          assertThrows(CollectiveException.class, () -> open(one, wrong, table, 1, addresses));
      assertEquals(ErrorCode.BOOTSTRAP_FAILED, refused.code());
      assertThat(refused.getMessage())
          .contains("logical rank 0 (task 0) at 127.0.0.1:", "WRONG_SECRET")
          .doesNotContain("not the secret");
      try (TcpListener again = TcpThreads.listener(V4);
          Communicator c = open(again, secret, table, 1, addresses)) {
        c.barrier();
      }
      first.join();
      CollectiveException stale =
          assertThrows(CollectiveException.class, () -> open(zero, secret, table, 0, addresses));
      assertEquals(ErrorCode.STALE_GROUP, stale.code());
      try (TcpListener late = TcpThreads.listener(V4)) {
        CollectiveException ended =
            assertThrows(CollectiveException.class, () -> open(late, secret, table, 1, addresses));
        assertThat(ended.getMessage()).contains("STALE_GROUP");
        assertEquals(1, zero.refused(WireRefusal.STALE_GROUP));
      }
    }
  }

  @Test
  void shouldLetAPeerInAgainWhenItsConnectionBrokeBeforeTheVerdictWasRead() throws Exception {
    try (TcpListener zero = TcpThreads.listener(V4);
        TcpListener one = TcpThreads.listener(V4)) {
      List<InetSocketAddress> addresses = List.of(zero.address(), one.address(), one.address());
      RankTable table = new RankTable(3, 3);
      GroupSecret secret = TcpThreads.secret("again");
      List<Thread> others = new ArrayList<>();
      for (int task : new int[] {0, 1}) {
        TcpListener listener = task == 0 ? zero : one;
        others.add(
            new Thread(
                () -> {
                  try (Communicator c = open(listener, secret, table, task, addresses)) {
                    c.barrier();
                  }
                }));
      }
      others.get(0).start();
      // Task 1 is shown in whole and breaks off: its number must stay free for the real one.
      proveAndBreak(zero, secret, table, 1);
      // A second, alive, is refused by name: its number is taken.
      try (SocketChannel alive = prove(zero, secret, table, 2)) {
        assertEquals(0, verdict(alive));
        try (SocketChannel twice = prove(zero, secret, table, 2)) {
          assertEquals(WireRefusal.DUPLICATE.number(), verdict(twice));
        }
      }
      assertEquals(1, zero.refused(WireRefusal.DUPLICATE));
      others.get(1).start();
      try (Communicator c = open(one, secret, table, 2, addresses)) {
        c.barrier();
        assertEquals(3, c.info().world());
      }
      for (Thread other : others) {
        other.join();
      }
    }
  }

  private static void proveAndBreak(
      TcpListener listener, GroupSecret secret, RankTable table, int task) throws Exception {
    try (SocketChannel channel = prove(listener, secret, table, task)) {
      // The first byte of the verdict says that the peer took this task for connected.
      assertEquals(1, channel.read(ByteBuffer.allocate(1)));
    }
  }

  /** Dials until the group is open there, and proves to be the task. */
  private static SocketChannel prove(
      TcpListener listener, GroupSecret secret, RankTable table, int task) throws Exception {
    GroupTerms terms =
        new GroupTerms(table.world(), table.tasks(), ReduceContract.VERSION, CHUNK_BYTES);
    long startNs = System.nanoTime();
    while (true) {
      byte[] nonce = new byte[32];
      ThreadLocalRandom.current().nextBytes(nonce);
      DialerHandshake handshake = new DialerHandshake(secret, terms, task, 0, nonce);
      SocketChannel channel = SocketChannel.open(listener.address());
      try {
        channel.write(ByteBuffer.wrap(handshake.hello()));
        channel.write(ByteBuffer.wrap(handshake.onReply(reply(channel))));
        return channel;
      } catch (RefusedBytes e) {
        channel.close();
        assertEquals(WireRefusal.UNKNOWN_GROUP, e.refusal());
        assertThat(System.nanoTime() - startNs).isLessThan(20_000_000_000L);
      }
    }
  }

  private static byte[] reply(SocketChannel channel) throws Exception {
    ByteBuffer reply = ByteBuffer.allocate(DialerHandshake.REPLY_BYTES);
    while (reply.hasRemaining()) {
      assertThat(channel.read(reply)).isNotNegative();
    }
    return reply.array();
  }

  private static int verdict(SocketChannel channel) throws Exception {
    return ByteBuffer.wrap(reply(channel)).order(ByteOrder.LITTLE_ENDIAN).getInt(8);
  }

  @Test
  void shouldNameThePairThatCannotConnect() {
    try (TcpListener zero = TcpThreads.listener(V4);
        TcpListener one = TcpThreads.listener(V4)) {
      GroupSpec spec =
          new GroupSpec(
              TcpThreads.secret("alone"),
              new RankTable(3, 3),
              1,
              List.of(zero.address(), one.address(), one.address()),
              false);
      CollectiveException failed =
          assertThrows(
              CollectiveException.class,
              () ->
                  TcpGroups.open(
                      one,
                      spec,
                      ConfigSource.of(Map.of("spark.rankfold.timeout.connect", "300ms")),
                      CollectiveMetrics.NONE));
      assertEquals(ErrorCode.BOOTSTRAP_FAILED, failed.code());
      assertThat(failed.getMessage())
          .contains("logical rank 0 (task 0) at 127.0.0.1:", "UNKNOWN_GROUP")
          .contains("logical rank 2 (task 2) has not dialed");
      assertThat(zero.refused(WireRefusal.UNKNOWN_GROUP)).isPositive();
      assertEquals(0, one.bufferBytes());
    }
  }

  @Test
  void shouldRefuseToSendInTheClearWhenEncryptionIsWanted() {
    try (TcpListener zero = TcpThreads.listener(V4)) {
      GroupSpec spec =
          new GroupSpec(
              TcpThreads.secret("encrypted"),
              new RankTable(1, 1),
              0,
              List.of(zero.address()),
              true);
      CollectiveException refused =
          assertThrows(
              CollectiveException.class,
              () -> TcpGroups.open(zero, spec, key -> null, CollectiveMetrics.NONE));
      assertEquals(ErrorCode.UNSUPPORTED, refused.code());
    }
  }

  @Test
  void shouldKeepArenasBitsWhenCallsOfManySizesFollowEachOther() throws Exception {
    TcpThreads.results(
        V4,
        4,
        4,
        Map.of("spark.rankfold.chunk.bytes", "16k"),
        communicator -> {
          int task = communicator.info().task();
          for (int n = 1; n < 200_000; n = n * 3 + 1) {
            try (var in = communicator.allocate(DType.I32, n);
                var out = communicator.allocate(DType.I32, n)) {
              for (int i = 0; i < n; i++) {
                in.ints().put(i, i + task);
              }
              communicator.allReduce(List.of(in.view()), out.view());
              for (int i = 0; i < n; i++) {
                assertEquals(4 * i + 6, out.ints().get(i));
              }
            }
          }
          return 1;
        });
  }

  private static Communicator open(
      TcpListener listener,
      GroupSecret secret,
      RankTable table,
      int task,
      List<InetSocketAddress> addresses) {
    return TcpGroups.open(
        listener,
        new GroupSpec(secret, table, task, addresses, false),
        ConfigSource.of(Map.of("spark.rankfold.timeout.connect", "20s")),
        CollectiveMetrics.NONE);
  }

  private static void stranger(TcpListener listener, byte[] words) throws Exception {
    try (SocketChannel channel = SocketChannel.open(listener.address())) {
      channel.write(ByteBuffer.wrap(words));
      ByteBuffer reply = ByteBuffer.allocate(1000);
      while (channel.read(reply) >= 0) {
        assertThat(reply.hasRemaining()).isTrue();
      }
      assertThat(reply.position()).isLessThanOrEqualTo(72);
    } catch (java.io.IOException e) {
      // Closed with bytes unread: as good a refusal.
      assertThat(e).hasMessageContaining("reset");
    }
  }

  private static void awaitRefused(TcpListener listener, WireRefusal refusal, long count)
      throws InterruptedException {
    long startNs = System.nanoTime();
    while (listener.refused(refusal) < count && System.nanoTime() - startNs < 5_000_000_000L) {
      Thread.sleep(1);
    }
    assertEquals(count, listener.refused(refusal));
  }
}
