// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import ml.dmlc.xgboost4j.java.Communicator;
import ml.dmlc.xgboost4j.java.RabitTracker;
import org.rankfold.it.bench.PeerBits;

/**
 * Times the all-reduce of XGBoost's communicator, as xgboost4j exposes it, by the protocol of
 * allreduce.c, {@code bits} before the sizes included. Without a rank it is the tracker: it starts a
 * process of itself for each rank.
 *
 * <p>Run from source: {@code java -cp xgboost4j.jar:commons-logging.jar XgboostAllReduce.java TASKS
 * BYTES...}
 */
public final class XgboostAllReduce {
  private static volatile float sink;

  private XgboostAllReduce() {}

  public static void main(String[] args) throws Exception {
    if (!args[0].equals("rank")) {
      track(Integer.parseInt(args[0]), Arrays.copyOfRange(args, 1, args.length));
      return;
    }
    Map<String, Object> settings = new HashMap<>();
    int at = 1;
    for (; !args[at].equals("--"); at++) {
      int equals = args[at].indexOf('=');
      String value = args[at].substring(equals + 1);
      boolean isNumber = value.matches("\\d+") && !args[at].startsWith("dmlc_task_id");
      settings.put(args[at].substring(0, equals), isNumber ? (Object) Integer.valueOf(value) : value);
    }
    Communicator.init(settings);
    boolean onlyBits = args[at + 1].equals("bits");
    for (String size : Arrays.copyOfRange(args, at + (onlyBits ? 2 : 1), args.length)) {
      long bytes = Long.parseLong(size);
      if (onlyBits) {
        bits(bytes);
      } else {
        time(bytes);
      }
    }
    Communicator.shutdown();
  }

  private static void track(int tasks, String[] sizes) throws Exception {
    RabitTracker tracker = new RabitTracker(tasks, "127.0.0.1", 0, 60);
    if (!tracker.start()) {
      throw new IllegalStateException("the tracker did not start");
    }
    Process[] ranks = new Process[tasks];
    for (int rank = 0; rank < tasks; rank++) {
      java.util.List<String> command = new java.util.ArrayList<>();
      command.add(System.getProperty("java.home") + "/bin/java");
      command.addAll(java.util.List.of("-cp", System.getProperty("java.class.path")));
      command.addAll(java.util.List.of(System.getProperty("peer.source"), "rank"));
      for (Map.Entry<String, Object> entry : tracker.getWorkerArgs().entrySet()) {
        command.add(entry.getKey() + "=" + entry.getValue());
      }
      command.add("dmlc_task_id=" + rank);
      command.add("--");
      command.addAll(Arrays.asList(sizes));
      ranks[rank] = new ProcessBuilder(command).inheritIO().start();
    }
    int worst = 0;
    for (Process rank : ranks) {
      worst = Math.max(worst, rank.waitFor());
    }
    tracker.stop();
    System.exit(worst);
  }

  private static void bits(long bytes) throws Exception {
    int n = (int) (bytes / Float.BYTES);
    float[] in = PeerBits.partialSum(n, Communicator.getWorldSize(), Communicator.getRank());
    float[] out = Communicator.allReduce(in, Communicator.OpType.SUM);
    if (Communicator.getRank() == 0) {
      System.out.println(bytes + " " + PeerBits.digest(out));
    }
  }

  private static void time(long bytes) throws Exception {
    int n = (int) (bytes / Float.BYTES);
    int batch = (int) Math.min(2000, 1 + (256L << 20) / (bytes + 65536));
    float[] in = new float[n];
    calls(in, batch / 4 + 2);
    double[] means = new double[3];
    for (int b = 0; b < means.length; b++) {
      Communicator.allReduce(new float[1], Communicator.OpType.SUM);
      long startNs = System.nanoTime();
      calls(in, batch);
      means[b] = (System.nanoTime() - startNs) / 1e3 / batch;
    }
    Arrays.sort(means);
    float[] slowest = Communicator.allReduce(new float[] {(float) means[1]}, Communicator.OpType.MAX);
    if (Communicator.getRank() == 0) {
      System.out.printf(Locale.ROOT, "%d %.2f%n", bytes, slowest[0]);
    }
  }

  private static void calls(float[] in, int count) {
    for (int call = 0; call < count; call++) {
      Arrays.fill(in, call);
      float[] out = Communicator.allReduce(in, Communicator.OpType.SUM);
      float sum = 0;
      for (int i = 0; i < out.length; i += 16) {
        sum += out[i];
      }
      sink = sum;
    }
  }
}
