// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What may not stand in machine code whose bits matter, as {@code nvdisasm} prints it: the last
 * word on what the compiler made of the PTX.
 */
final class Sass {
  private static final Pattern INSTRUCTION =
      Pattern.compile("/\\*[0-9a-f]+\\*/\\s+(?:@!?\\w+\\s+)?([A-Z][A-Z0-9_.]*\\s*[^;]*);");

  /** Contracted, flushing or atomic. Integer division converts with F2I.FTZ, which is none. */
  private static final Pattern FORBIDDEN =
      Pattern.compile("(FFMA|DFMA|HFMA|RED|ATOM)\\S*|(F(?!2)|D|H)\\w+\\S*\\.FTZ\\b.*");

  /** -0 times 0 plus a constant: how the compiler loads one. */
  private static final Pattern CONSTANT = Pattern.compile("HFMA2\\S* \\w+, -?RZ, -?RZ, .*");

  private Sass() {}

  /**
   * Where the disassembler is: the property, the PATH or where CUDA puts it; it needs no device.
   */
  static Optional<Path> disassembler() {
    String named = System.getProperty("rankfold.nvdisasm");
    if (named != null) {
      return Optional.of(Path.of(named));
    }
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.concat(Stream.of(path.split(":", -1)), Stream.of("/usr/local/cuda/bin"))
        .map(folder -> Path.of(folder, "nvdisasm"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  static String of(Path disassembler, byte[] cubin, Path folder) throws IOException {
    Path file = Files.write(folder.resolve("code.cubin"), cubin);
    Process process =
        new ProcessBuilder(disassembler.toString(), "-c", file.toString())
            .redirectErrorStream(true)
            .start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** All instructions, their predicates left out. */
  static List<String> instructions(String sass) {
    List<String> all = new ArrayList<>();
    Matcher matcher = INSTRUCTION.matcher(sass);
    while (matcher.find()) {
      all.add(matcher.group(1).strip());
    }
    return all;
  }

  /** The instructions that must not be there. */
  static List<String> offences(String sass) {
    return instructions(sass).stream()
        .filter(line -> FORBIDDEN.matcher(line).lookingAt())
        .filter(line -> !CONSTANT.matcher(line).matches())
        .toList();
  }
}
