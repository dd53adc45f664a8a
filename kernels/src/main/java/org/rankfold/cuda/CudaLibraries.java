// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Loader;
import org.rankfold.InternalApi;

/**
 * Loads CUDA's libraries once a process, under a lock. JavaCPP unpacks into a folder of this
 * process, since processes that share one can meet half-written files, and it counts no memory:
 * what it would count is not what a device holds. Settings the user made are left alone.
 */
@InternalApi
public final class CudaLibraries {
  private static final Object LOCK = new Object();
  private static boolean isPrepared;

  private CudaLibraries() {}

  /**
   * Loads driver and runtime.
   *
   * @throws LinkageError when JavaCPP or a library is missing; the message names it
   */
  static void loadRuntime() {
    load(org.bytedeco.cuda.global.cudart.class);
  }

  /**
   * Loads the run-time compiler.
   *
   * @throws LinkageError when JavaCPP or a library is missing; the message names it
   */
  static void loadCompiler() {
    load(org.bytedeco.cuda.global.nvrtc.class);
  }

  /**
   * Loads the native half of JavaCPP's bindings, and the library that they bind.
   *
   * @param bindings the class of the bindings
   * @throws LinkageError when JavaCPP or a library is missing; the message names it
   */
  public static void load(Class<?> bindings) {
    synchronized (LOCK) {
      prepare();
      Loader.load(bindings);
    }
  }

  /**
   * Why something did not load: JavaCPP wraps the linker's own words in less telling ones.
   *
   * @param problem what was thrown
   * @return the innermost cause's class and first line
   */
  public static String why(Throwable problem) {
    Throwable inner = problem;
    while (inner.getCause() != null) {
      inner = inner.getCause();
    }
    String line =
        (inner.getClass().getSimpleName() + ": " + inner.getMessage())
            .lines()
            .findFirst()
            .orElse("");
    return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
  }

  /**
   * Where this process has mapped libraries from.
   *
   * @param prefix how their file names start
   * @return paths; empty when it has none
   */
  public static List<String> mapped(String prefix) {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.map(line -> line.substring(line.lastIndexOf(' ') + 1))
          .filter(path -> path.substring(path.lastIndexOf('/') + 1).startsWith(prefix))
          .distinct()
          .toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  private static void prepare() {
    if (isPrepared) {
      return;
    }
    setIfAbsent("org.bytedeco.javacpp.maxBytes", "0");
    setIfAbsent("org.bytedeco.javacpp.maxPhysicalBytes", "0");
    // As the linker would: else a library of the same name in the JVM's own folders comes first.
    String first = System.getenv("LD_LIBRARY_PATH");
    if (first != null && !first.isEmpty()) {
      setIfAbsent("org.bytedeco.javacpp.platform.preloadpath", first);
    }
    if (System.getProperty("org.bytedeco.javacpp.cachedir") == null) {
      try {
        Path own = Files.createTempDirectory("rankfold-javacpp-");
        System.setProperty("org.bytedeco.javacpp.cachedir", own.toString());
        Runtime.getRuntime()
            .addShutdownHook(new Thread(() -> delete(own), "rankfold-javacpp-cleanup"));
      } catch (IOException e) {
        throw new UncheckedIOException("no folder for JavaCPP to unpack into", e);
      }
    }
    isPrepared = true;
  }

  private static void setIfAbsent(String key, String value) {
    if (System.getProperty(key) == null) {
      System.setProperty(key, value);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // The process is ending; a leftover folder in the temporary one harms nobody.
    }
  }
}
