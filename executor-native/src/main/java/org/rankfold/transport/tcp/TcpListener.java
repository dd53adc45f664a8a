// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.InternalApi;
import org.rankfold.config.PortRange;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.wire.Hello;
import org.rankfold.wire.NonceMemory;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.WireRefusal;

/**
 * The one listening socket of a process, for all its groups, and the one thread that lets peers in
 * and looks after groups whose tasks are busy elsewhere. Thread-safe; owned by who opened it.
 */
@InternalApi
public final class TcpListener implements AutoCloseable {
  private static final int STRANGERS = 256;
  private static final int BACKLOG = 1024;
  private static final int REMEMBERED = 4096;
  private static final long KEPT_BYTES = 128L << 20;
  private static final long GREETING_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long GREETED_NS = 200_000;

  private final ServerSocketChannel server;
  private final InetSocketAddress address;
  private final SecureRandom random = new SecureRandom();
  private final BufferPool pool = new BufferPool(KEPT_BYTES);
  private final Map<String, Seat> seats = new ConcurrentHashMap<>();
  private final List<TcpTransport> watched = new CopyOnWriteArrayList<>();
  private final NonceMemory greeted = new NonceMemory(REMEMBERED);
  private final NonceMemory dialed = new NonceMemory(REMEMBERED);
  private final NonceMemory ended = new NonceMemory(REMEMBERED);
  private final EnumMap<WireRefusal, AtomicLong> refusals = new EnumMap<>(WireRefusal.class);
  private final List<Greeting> greetings = new ArrayList<>();
  private final Thread thread;
  private volatile boolean isClosing;

  private TcpListener(ServerSocketChannel server, InetSocketAddress address) {
    this.server = server;
    this.address = address;
    for (WireRefusal refusal : WireRefusal.values()) {
      refusals.put(refusal, new AtomicLong());
    }
    this.thread = new Thread(this::run, "rankfold-tcp-" + address.getPort());
    thread.setDaemon(true);
  }

  /**
   * Binds and starts to listen.
   *
   * @param host an address of this machine that peers can reach; an IP literal's, no name is looked
   *     up
   * @param ports which ports to try, in order
   * @return the listener
   * @throws CollectiveException BOOTSTRAP_FAILED when no port could be bound
   */
  public static TcpListener open(InetAddress host, PortRange ports) {
    IOException last = null;
    for (int port = ports.first(); port <= ports.last(); port++) {
      ServerSocketChannel server = null;
      try {
        server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(host, port), BACKLOG);
        server.configureBlocking(false);
        TcpListener listener =
            new TcpListener(server, (InetSocketAddress) server.getLocalAddress());
        listener.thread.start();
        return listener;
      } catch (IOException e) {
        last = e;
        if (server != null) {
          Sockets.close(server);
        }
      }
    }
    throw new CollectiveException(
        ErrorCode.BOOTSTRAP_FAILED,
        "cannot listen on "
            + host.getHostAddress()
            + ", ports "
            + ports.first()
            + " to "
            + ports.last()
            + ": "
            + last,
        last);
  }

  /**
   * Where peers reach this process, to be published by the bootstrap.
   *
   * @return the address and port bound
   */
  public InetSocketAddress address() {
    return address;
  }

  /**
   * How often bytes were refused for a reason, of strangers and of peers.
   *
   * @param refusal the reason
   * @return a count since the listener opened
   */
  public long refused(WireRefusal refusal) {
    return refusals.get(refusal).get();
  }

  /**
   * The bytes of buffers in use by all groups of the process.
   *
   * @return bytes
   */
  public long bufferBytes() {
    return pool.takenBytes();
  }

  void count(WireRefusal refusal) {
    refusals.get(refusal).incrementAndGet();
  }

  BufferPool pool() {
    return pool;
  }

  byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }

  void onDialed(String nonce) {
    dialed.add(nonce);
  }

  void add(Seat seat) {
    if (isClosing) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the listener is closed");
    }
    if (ended.contains(seat.key()) || seats.putIfAbsent(seat.key(), seat) != null) {
      throw new CollectiveException(
          ErrorCode.STALE_GROUP,
          "task=" + seat.task() + " has joined group " + seat.secret().epoch() + " before");
    }
  }

  void remove(Seat seat) {
    ended.add(seat.key());
    seats.remove(seat.key());
    seat.takeLinks().forEach(MeshLink::close);
  }

  /** The seat that a greeting asks for. */
  Seat seatFor(Hello hello) throws RefusedBytes {
    String key = Seat.key(hello.groupId(), hello.to());
    Seat seat = seats.get(key);
    if (seat == null) {
      if (dialed.contains(hello.nonce())) {
        throw new RefusedBytes(WireRefusal.REFLECTION, "this process made the greeting");
      }
      if (ended.contains(key)) {
        throw new RefusedBytes(WireRefusal.STALE_GROUP, "the group has ended here");
      }
      throw new RefusedBytes(WireRefusal.UNKNOWN_GROUP, "no such group is open here");
    }
    if (hello.from() <= hello.to()) {
      throw new RefusedBytes(
          WireRefusal.WRONG_TASK, "task=%d dials task=%d", hello.from(), hello.to());
    }
    if (!greeted.add(hello.nonce())) {
      throw new RefusedBytes(WireRefusal.REPLAY, "the greeting was used before");
    }
    return seat;
  }

  void welcome(Seat seat, MeshLink link) {
    seat.add(link);
    LockSupport.unpark(seat.owner());
  }

  void watch(TcpTransport transport) {
    watched.add(transport);
  }

  void unwatch(TcpTransport transport) {
    watched.remove(transport);
  }

  private void run() {
    while (!isClosing) {
      long nowNs = System.nanoTime();
      boolean isGreeting = accept(nowNs);
      greetings.removeIf(greeting -> !greeting.proceed(nowNs, GREETING_NS));
      for (TcpTransport transport : watched) {
        transport.tick(nowNs);
      }
      isGreeting |= !greetings.isEmpty();
      LockSupport.parkNanos(isGreeting ? GREETED_NS : IDLE_NS);
    }
    greetings.forEach(Greeting::close);
  }

  private boolean accept(long nowNs) {
    boolean any = false;
    try {
      SocketChannel channel;
      while ((channel = server.accept()) != null) {
        any = true;
        if (greetings.size() >= STRANGERS) {
          count(WireRefusal.BUSY);
          Sockets.close(channel);
          continue;
        }
        Sockets.setUp(channel);
        greetings.add(new Greeting(channel, this, random, nowNs));
      }
    } catch (IOException e) {
      // A stranger that was gone before it was let in, or this socket is being closed.
      return any;
    }
    return any;
  }

  /** Stops listening; groups still open go on without being looked after. Idempotent. */
  @Override
  public void close() {
    isClosing = true;
    LockSupport.unpark(thread);
    boolean wasInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        wasInterrupted = true;
      }
    }
    Sockets.close(server);
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
