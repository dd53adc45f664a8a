// SPDX-License-Identifier: Apache-2.0
package org.rankfold.managers;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/**
 * Runs executor pods as processes of this machine: each with its own loopback address, its
 * environment, its volumes as folders, and the command that the entry point of Spark's image makes
 * of them. Tells the API server what becomes of them. Closing ends all of them.
 */
final class FakeKubelet implements AutoCloseable, Watcher<Pod> {
  private static final String BACKEND =
      "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend";
  private static final String JAVA_OPTION = "SPARK_JAVA_OPT_";
  private static final long STOP_S = 10;

  private final KubernetesClient client;
  private final Path folder;
  private final List<String> image;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final Map<String, Process> running = new ConcurrentHashMap<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private int addresses;
  private Watch watch;

  private FakeKubelet(KubernetesClient client, Path folder, List<String> image) {
    this.client = client;
    this.folder = folder;
    this.image = image;
  }

  /**
   * Watches from now on.
   *
   * @param client of the API server, the caller's
   * @param folder for logs and volumes
   * @param image the jars that Spark's image has
   */
  static FakeKubelet start(KubernetesClient client, Path folder, List<String> image) {
    FakeKubelet kubelet = new FakeKubelet(client, folder, image);
    kubelet.watch = client.pods().withLabel("spark-role", "executor").watch(kubelet);
    return kubelet;
  }

  /** Names of the pods whose process runs, oldest first. */
  List<String> pods() {
    return running.keySet().stream()
        .sorted(Comparator.comparing(name -> running.get(name).pid()))
        .toList();
  }

  /** Ends a pod's process by SIGKILL, as a kernel out of memory does. */
  void kill(String pod) {
    running.get(pod).destroyForcibly();
  }

  /** The process of a pod. */
  long pid(String pod) {
    return running.get(pod).pid();
  }

  /** What went wrong here, null when nothing. */
  Throwable failure() {
    return failure.get();
  }

  @Override
  public void eventReceived(Action action, Pod pod) {
    thread.execute(
        () -> {
          try {
            if (action == Action.ADDED) {
              run(pod);
            } else if (action == Action.DELETED) {
              end(pod.getMetadata().getName());
            }
          } catch (IOException | RuntimeException e) {
            failure.compareAndSet(null, e);
          }
        });
  }

  @Override
  public void onClose(WatcherException cause) {
    failure.compareAndSet(null, cause);
  }

  private void run(Pod pod) throws IOException {
    String name = pod.getMetadata().getName();
    String address = "127.0.1." + ++addresses;
    Path home = Files.createDirectories(folder.resolve(name));
    Container container = pod.getSpec().getContainers().get(0);
    Map<String, String> mounts = mount(pod, container, home);
    Map<String, String> environment = environment(container, name, address, mounts);
    ProcessBuilder builder =
        new ProcessBuilder(command(environment))
            .directory(home.toFile())
            .redirectOutput(home.resolve("out").toFile())
            .redirectError(home.resolve("err").toFile());
    builder.environment().putAll(environment);
    builder.environment().put("SPARK_LOCAL_IP", address);
    Process process = builder.start();
    running.put(name, process);
    tell(
        name,
        address,
        "Running",
        new ContainerStatusBuilder()
            .withNewState()
            .withNewRunning()
            .withStartedAt(Instant.now().toString())
            .endRunning()
            .endState());
    Thread waiter = new Thread(() -> await(name, address, process), "pod " + name);
    waiter.setDaemon(true);
    waiter.start();
  }

  private void await(String name, String address, Process process) {
    try {
      process.waitFor();
      thread.execute(() -> hasEnded(name, address, process));
    } catch (InterruptedException | RejectedExecutionException e) {
      Thread.currentThread().interrupt(); // the kubelet is closed: nobody asks any more
    }
  }

  private void hasEnded(String name, String address, Process process) {
    if (running.remove(name, process)) {
      int code = process.exitValue();
      try {
        tell(
            name,
            address,
            code == 0 ? "Succeeded" : "Failed",
            new ContainerStatusBuilder()
                .withNewState()
                .withNewTerminated()
                .withExitCode(code)
                .withReason(code == 0 ? "Completed" : "Error")
                .endTerminated()
                .endState());
      } catch (KubernetesClientException e) {
        failure.compareAndSet(null, e);
      }
    }
  }

  /** A pod that is deleted meanwhile has nobody to tell. */
  private void tell(String name, String address, String phase, ContainerStatusBuilder status) {
    if (client.pods().withName(name).get() == null) {
      return;
    }
    ContainerStatus told = status.withName("spark-kubernetes-executor").build();
    client
        .pods()
        .withName(name)
        .editStatus(
            pod ->
                new PodBuilder(pod)
                    .withNewStatus()
                    .withPhase(phase)
                    .withPodIP(address)
                    .withContainerStatuses(told)
                    .endStatus()
                    .build());
  }

  /** Every volume is a folder; a config map's has its files. From mount path to folder. */
  private Map<String, String> mount(Pod pod, Container container, Path home) throws IOException {
    Map<String, Volume> volumes =
        pod.getSpec().getVolumes().stream().collect(Collectors.toMap(Volume::getName, v -> v));
    Map<String, String> mounts = new HashMap<>();
    for (VolumeMount mount : container.getVolumeMounts()) {
      Path place = Files.createDirectories(home.resolve("volumes").resolve(mount.getName()));
      Volume volume = volumes.get(mount.getName());
      if (volume.getConfigMap() != null) {
        ConfigMap map = client.configMaps().withName(volume.getConfigMap().getName()).get();
        for (var file : map.getData().entrySet()) {
          Files.writeString(place.resolve(file.getKey()), file.getValue());
        }
      }
      mounts.put(mount.getMountPath(), place.toString());
    }
    return mounts;
  }

  private static Map<String, String> environment(
      Container container, String name, String address, Map<String, String> mounts) {
    Map<String, String> environment = new HashMap<>();
    for (EnvVar variable : container.getEnv()) {
      String value = variable.getValue();
      if (variable.getValueFrom() != null) {
        String field = variable.getValueFrom().getFieldRef().getFieldPath();
        value =
            switch (field) {
              case "status.podIP" -> address;
              case "metadata.name" -> name;
              default -> throw new IllegalArgumentException("field=" + field);
            };
      }
      for (var mount : mounts.entrySet()) {
        value = value == null ? null : value.replace(mount.getKey(), mount.getValue());
      }
      if (value != null) {
        environment.put(variable.getName(), value);
      }
    }
    return environment;
  }

  /** What entrypoint.sh of Spark's image runs when it is told {@code executor}. */
  private List<String> command(Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    environment.keySet().stream()
        .filter(key -> key.startsWith(JAVA_OPTION))
        .sorted(Comparator.comparing(key -> Integer.parseInt(key.substring(JAVA_OPTION.length()))))
        .forEach(key -> command.add(environment.get(key)));
    command.add("-Xmx" + environment.get("SPARK_EXECUTOR_MEMORY"));
    command.add("-cp");
    command.add(environment.get("SPARK_CONF_DIR") + ":" + String.join(":", image));
    command.add(BACKEND);
    for (String[] option :
        new String[][] {
          {"--driver-url", "SPARK_DRIVER_URL"},
          {"--executor-id", "SPARK_EXECUTOR_ID"},
          {"--cores", "SPARK_EXECUTOR_CORES"},
          {"--app-id", "SPARK_APPLICATION_ID"},
          {"--hostname", "SPARK_EXECUTOR_POD_IP"},
          {"--resourceProfileId", "SPARK_RESOURCE_PROFILE_ID"},
          {"--podName", "SPARK_EXECUTOR_POD_NAME"}
        }) {
      command.add(option[0]);
      command.add(environment.get(option[1]));
    }
    return command;
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  private void end(String name) {
    Process process = running.remove(name);
    if (process != null) {
      process.destroy();
      try {
        if (!process.waitFor(STOP_S, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void close() {
    watch.close();
    thread.shutdownNow();
    running.values().forEach(Process::destroyForcibly);
  }
}
