// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

import java.nio.file.Path;
import java.util.List;
import org.rankfold.peer.cuda.PathTable;

/** Every setting of Rankfold, declared once; docs/configuration.md is written from this list. */
public final class ConfigKeys {
  /** Which transport joins the tasks. */
  public static final ConfigKey<String> TRANSPORT =
      new ConfigKey<>(
          "spark.rankfold.transport",
          "auto, loopback, sharedmemory, tcp",
          "auto",
          "What moves bytes between tasks. `auto` takes the fastest that reaches every task;"
              + " `loopback` joins tasks of one JVM, `sharedmemory` those of one host (same"
              + " container, same user), `tcp` any.",
          ConfigText.oneOf("auto", "loopback", "sharedmemory", "tcp"));

  /** Where tasks of one host make their segments. */
  public static final ConfigKey<Path> SHARED_MEMORY_DIR =
      new ConfigKey<>(
          "spark.rankfold.sharedmemory.dir",
          "folder",
          "/dev/shm",
          "Where tasks of one host make the segments they share: a folder of a file system in"
              + " memory, with room for all arenas and some chunks for each pair of tasks.",
          ConfigText::folder);

  /** Which pairs are mapped. */
  public static final ConfigKey<String> PATH =
      new ConfigKey<>(
          "spark.rankfold.path",
          "auto, mapped, staged, mixed",
          "auto",
          "How pairs of tasks exchange bytes: `mapped` reads and writes the peer's memory in place,"
              + " `staged` sends bytes through slots, `mixed` does both by pair, `auto` maps where it"
              + " can. Never changes a bit.",
          ConfigText.oneOf("auto", "mapped", "staged", "mixed"));

  /** In which order staged addends arrive. */
  public static final ConfigKey<String> DELIVERY =
      new ConfigKey<>(
          "spark.rankfold.loopback.delivery",
          "arrival, ascending, descending, shuffled:SEED",
          "arrival",
          "The order in which the loopback transport hands out the staged addends of a chunk; for"
              + " proving that it never changes a bit.",
          text -> text);

  /** The stretch in which bytes move. */
  public static final ConfigKey<Integer> CHUNK_BYTES =
      new ConfigKey<>(
          "spark.rankfold.chunk.bytes",
          "size",
          "256k",
          "The stretch in which bytes move and between which aborts are noticed. Never changes a"
              + " bit.",
          ConfigText::sizeBytes);

  /** When sums travel instead of addends. */
  public static final ConfigKey<String> PARTIALS =
      new ConfigKey<>(
          "spark.rankfold.partials",
          "auto, always, never",
          "auto",
          "Whether tasks that host several logical ranks and are staged to all others send sums of"
              + " their ranks' addends instead of each: along a chain of tasks for RANK_LEFT, of whole"
              + " subtrees for RANK_TREE. `auto` does where it moves fewer bytes. Never changes a bit.",
          ConfigText.oneOf("auto", "always", "never"));

  /** How long one wait of a call may last. */
  public static final ConfigKey<Long> COLLECTIVE_TIMEOUT =
      new ConfigKey<>(
          "spark.rankfold.timeout.collective",
          "duration",
          "10min",
          "How long a rank inside a collective waits for one that does not arrive before the group"
              + " fails.",
          ConfigText::durationNs);

  /** How long a failed call waits for its memory. */
  public static final ConfigKey<Long> EXIT_TIMEOUT =
      new ConfigKey<>(
          "spark.rankfold.timeout.exit",
          "duration",
          "5s",
          "How long a failed call waits for peers to leave this task's memory before the process is"
              + " given up as unsafe.",
          ConfigText::durationNs);

  /** How long a peer may be silent. */
  public static final ConfigKey<Long> PEER_TIMEOUT =
      new ConfigKey<>(
          "spark.rankfold.timeout.peer",
          "duration",
          "30s",
          "How long nothing may be heard from a peer, whose process always sends signs of life,"
              + " before the group fails.",
          ConfigText::durationNs);

  /** How long a group may take to connect. */
  public static final ConfigKey<Long> CONNECT_TIMEOUT =
      new ConfigKey<>(
          "spark.rankfold.timeout.connect",
          "duration",
          "60s",
          "How long a task tries to connect to all peers of its group.",
          ConfigText::durationNs);

  /** On which ports a process listens. */
  public static final ConfigKey<PortRange> NETWORK_PORT =
      new ConfigKey<>(
          "spark.rankfold.network.port",
          "port, or range such as 4000-4100",
          "0",
          "The port a process listens on for its peers; of a range the first free one, `0` any.",
          PortRange::parse);

  /** At which addresses a process listens. */
  public static final ConfigKey<List<AddressRange>> NETWORK_CIDR =
      new ConfigKey<>(
          "spark.rankfold.network.cidr",
          "auto, or ranges such as 10.0.0.0/8,fd00::/8",
          "auto",
          "The address a process listens on for its peers and tells them: the first one of its host"
              + " in the first range that has one, IPv4 or IPv6; `auto` takes the address from which"
              + " the host speaks to the driver.",
          AddressRange::parseAll);

  /** Which fold adds. */
  public static final ConfigKey<String> FOLD =
      new ConfigKey<>(
          "spark.rankfold.fold",
          "auto, scalar, lane, lane-plain",
          "auto",
          "Which code adds: `scalar` the obvious loop, `lane` the fast one, `lane-plain` the fast one"
              + " without the Vector API, `auto` the fastest of this JVM. Never changes a bit.",
          ConfigText.oneOf("auto", "scalar", "lane", "lane-plain"));

  /** Whether tasks have GPUs. */
  public static final ConfigKey<String> DEVICE =
      new ConfigKey<>(
          "spark.rankfold.device",
          "cpu, gpu",
          "cpu",
          "`gpu` gives every task a GPU: the one Spark assigned, else those of its host by turns."
              + " Device memory is folded there. Never changes a bit.",
          ConfigText.oneOf("cpu", "gpu"));

  /** What moves device memory between tasks. */
  public static final ConfigKey<String> DEVICE_TRANSPORT =
      new ConfigKey<>(
          "spark.rankfold.device.transport",
          "auto, host, nccl, peer",
          "auto",
          "What moves device memory between tasks: `peer`, which reads and writes it where it lies"
              + " (one host; peer access, or CUDA IPC between JVMs), `nccl`, or `host`, which folds"
              + " where the memory is within a JVM and goes by way of host memory and"
              + " `spark.rankfold.transport` between JVMs. `auto` takes the first of `peer`, NCCL"
              + " between JVMs and `host` that can be, and logs why not more. Never changes a bit.",
          ConfigText.oneOf("auto", "host", "nccl", "peer"));

  /** How tasks that reach one another's devices wait. */
  public static final ConfigKey<String> PEER_ARM =
      new ConfigKey<>(
          "spark.rankfold.peer.arm",
          "auto, events",
          "auto",
          "How tasks that reach one another's device memory wait for one another: `auto` on the"
              + " device where every task has a GPU with native atomics on the others', else by"
              + " `events` of streams, which tasks may share a GPU with. Never changes a bit.",
          ConfigText.oneOf("auto", "events"));

  /** Which path a payload takes between devices that reach one another. */
  public static final ConfigKey<String> PEER_PATHS =
      new ConfigKey<>(
          "spark.rankfold.peer.paths",
          "auto, or rows such as one_shot:4m,mapped:256m",
          "auto",
          "Which path a payload takes between tasks that reach one another's device memory, by the"
              + " largest that takes it: `one_shot` pushes it whole to every task, `mapped` folds"
              + " shards where they lie; a larger one goes as if there were no reach. Never changes"
              + " a bit.",
          ConfigKeys::paths);

  /** Whether NCCL may send elements in the clear. */
  public static final ConfigKey<String> NCCL_PLAINTEXT =
      new ConfigKey<>(
          "spark.rankfold.nccl.plaintext",
          "refuse, allow",
          "refuse",
          "Whether NCCL, which does not encrypt, may join hosts when Spark was told to encrypt.",
          ConfigText.oneOf("refuse", "allow"));

  /** Whether NCCL may join tasks that share a GPU. */
  public static final ConfigKey<String> NCCL_SHARED_DEVICE =
      new ConfigKey<>(
          "spark.rankfold.nccl.shared-device",
          "refuse, allow",
          "refuse",
          "Whether NCCL is tried for tasks that share a GPU. It works where NCCL takes their"
              + " processes for hosts of their own (`NCCL_HOSTID`), for tests of the way between"
              + " hosts.",
          ConfigText.oneOf("refuse", "allow"));

  /** How long a whole run may last. */
  public static final ConfigKey<Long> RUN_TIMEOUT =
      new ConfigKey<>(
          "spark.rankfold.timeout.run",
          "duration",
          "8760h",
          "How long a run may last, from the forming of its group to the last task's end; then it"
              + " fails on every task.",
          ConfigText::durationNs);

  /** How long a run waits for executors. */
  public static final ConfigKey<Long> SLOTS_TIMEOUT =
      new ConfigKey<>(
          "spark.rankfold.timeout.slots",
          "duration",
          "30s",
          "How long a run waits for enough executors to register before it is refused for too few"
              + " slots; a cluster that can never have enough is refused at once.",
          ConfigText::durationNs);

  /** How often a lost group is formed anew. */
  public static final ConfigKey<Integer> RETRY_ATTEMPTS =
      new ConfigKey<>(
          "spark.rankfold.retry.attempts",
          "0 to 100",
          "2",
          "How often a run whose group was lost to the cluster (an executor died, a peer fell silent)"
              + " is submitted anew, as a new job whose bodies start from their beginning. Errors of"
              + " usage, exceptions of the body, timeouts and cancelled jobs are never submitted"
              + " again.",
          text -> ConfigText.count(text, 100));

  /** How long a run waits before it is submitted anew. */
  public static final ConfigKey<Long> RETRY_WAIT =
      new ConfigKey<>(
          "spark.rankfold.retry.wait",
          "duration",
          "1s",
          "How long a run waits before it is submitted anew; twice as long each further time, a minute"
              + " at most.",
          ConfigText::durationNs);

  /** Whether Spark interrupts a run's tasks. */
  public static final ConfigKey<String> INTERRUPT_ON_CANCEL =
      new ConfigKey<>(
          "spark.rankfold.interruptOnCancel",
          "inherit, true",
          "inherit",
          "Whether Spark interrupts the threads of a run's tasks when the run is cancelled or fails."
              + " `inherit` leaves it to the thread that calls (`setJobGroup`, `setInterruptOnCancel`)."
              + " Without, a call ends within 100 ms and a body in its own code at its next one; with,"
              + " a body that sleeps or waits ends at once, and so may what a library was writing.",
          ConfigText.oneOf("inherit", "true"));

  /** When the driver says who is missing. */
  public static final ConfigKey<Long> REPORT_AFTER =
      new ConfigKey<>(
          "spark.rankfold.report.after",
          "duration",
          "30s",
          "How long a collective waits for a rank before the driver's log says who has arrived and"
              + " who has not; needs the plugin in `spark.plugins`.",
          ConfigText::durationNs);

  /** The seed of all seed streams. */
  public static final ConfigKey<Long> SEED =
      new ConfigKey<>(
          "spark.rankfold.seed",
          "64-bit number",
          "0",
          "The seed of the logical ranks' random streams. The same seed gives the same streams on any"
              + " number of tasks.",
          ConfigText::wholeNumber);

  private static final List<ConfigKey<?>> ALL =
      List.of(
          TRANSPORT,
          SHARED_MEMORY_DIR,
          PATH,
          DELIVERY,
          CHUNK_BYTES,
          PARTIALS,
          COLLECTIVE_TIMEOUT,
          EXIT_TIMEOUT,
          PEER_TIMEOUT,
          CONNECT_TIMEOUT,
          NETWORK_PORT,
          NETWORK_CIDR,
          RUN_TIMEOUT,
          SLOTS_TIMEOUT,
          RETRY_ATTEMPTS,
          RETRY_WAIT,
          INTERRUPT_ON_CANCEL,
          REPORT_AFTER,
          FOLD,
          DEVICE,
          DEVICE_TRANSPORT,
          PEER_ARM,
          PEER_PATHS,
          NCCL_PLAINTEXT,
          NCCL_SHARED_DEVICE,
          SEED);

  private ConfigKeys() {}

  private static String paths(String text) {
    if (!text.equals("auto")) {
      PathTable.parse(text);
    }
    return text;
  }

  /**
   * All keys in the order of the documentation.
   *
   * @return the keys
   */
  public static List<ConfigKey<?>> all() {
    return ALL;
  }
}
