// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.rankfold.cuda.Nvrtc;

/**
 * Compiled code on disk, so that a process need not compile what an earlier one did. The key is the
 * SHA-256 of source, options (the architecture among them) and the compiler's version. A file
 * begins with the SHA-256 of its code; one that does not match is compiled anew. A folder that
 * cannot be written costs time only. Any number of threads and processes may share it.
 */
final class CubinCache {
  private static final int HASH_BYTES = 32;

  private final Path folder;

  /** A cache in a folder that only its user may write; null for none. */
  CubinCache(Path folder) {
    this.folder = folder;
  }

  /**
   * The user's own: the folder that the property {@code rankfold.cuda.cache} names (empty for no
   * cache), else {@code rankfold/cubin} in {@code $XDG_CACHE_HOME} or {@code ~/.cache}.
   */
  static CubinCache ofUser() {
    String named = System.getProperty("rankfold.cuda.cache");
    if (named != null) {
      return new CubinCache(named.isEmpty() ? null : Path.of(named));
    }
    String xdg = System.getenv("XDG_CACHE_HOME");
    Path base =
        xdg == null || xdg.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(xdg);
    return new CubinCache(base.resolve("rankfold").resolve("cubin"));
  }

  byte[] cubin(String source, List<String> options) {
    if (folder == null) {
      return Nvrtc.cubin(source, "fold.cu", options);
    }
    Path file = folder.resolve(key(source, options) + ".cubin");
    byte[] stored = read(file);
    if (stored != null) {
      return stored;
    }
    byte[] code = Nvrtc.cubin(source, "fold.cu", options);
    write(file, code);
    return code;
  }

  private static String key(String source, List<String> options) {
    String all = Nvrtc.version() + "\n" + String.join("\n", options) + "\n" + source;
    return HexFormat.of().formatHex(sha256(all.getBytes(StandardCharsets.UTF_8)));
  }

  /** The code of a file that is whole, or null. */
  static byte[] read(Path file) {
    try {
      byte[] all = Files.readAllBytes(file);
      if (all.length <= HASH_BYTES) {
        return null;
      }
      byte[] code = Arrays.copyOfRange(all, HASH_BYTES, all.length);
      return Arrays.equals(sha256(code), Arrays.copyOf(all, HASH_BYTES)) ? code : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Stores code in one step, or not at all. */
  static void write(Path file, byte[] code) {
    Path part = null;
    try {
      Files.createDirectories(file.getParent());
      part = Files.createTempFile(file.getParent(), "part-", ".tmp");
      byte[] all = Arrays.copyOf(sha256(code), HASH_BYTES + code.length);
      System.arraycopy(code, 0, all, HASH_BYTES, code.length);
      Files.write(part, all);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      deleteQuietly(part);
    }
  }

  private static void deleteQuietly(Path part) {
    try {
      if (part != null) {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      // A leftover part is never read.
    }
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
