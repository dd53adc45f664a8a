// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The rooms below a base package, from the one that knows nothing to the one that knows all. Rooms
 * of one line do not know each other; the base package itself is open to all.
 */
final class Rooms {
  private static final List<List<String>> LINES =
      List.of(
          List.of("errors"),
          List.of("deadline"),
          List.of("contract"),
          List.of("view"),
          List.of("fold"),
          List.of("digest"),
          List.of("cuda"),
          List.of("fold.cuda"),
          List.of("peer.cuda"),
          List.of("config"),
          List.of("metrics"),
          List.of("liveness"),
          List.of("memory"),
          List.of("wire"),
          List.of("transport"),
          List.of(
              "transport.loopback",
              "transport.sharedmemory",
              "transport.tcp",
              "transport.nccl",
              "transport.cudapeer"),
          List.of("engine"),
          List.of("collective"),
          List.of("group"),
          List.of("spark.bootstrap"),
          List.of("spark.driver"),
          List.of("spark.executor"),
          List.of("spark"),
          List.of("spark.train"),
          List.of("examples"));
  private static final int FIRST_OF_SPARK =
      LINES.stream().map(line -> line.get(0)).toList().indexOf("spark.bootstrap");
  private static final String[] CLUSTERS = {
    "org.apache.spark..", "org.apache.hadoop..", "scala..", "io.netty.."
  };

  private final String base;

  Rooms(String base) {
    this.base = base + ".";
  }

  /** Packages that no line names. */
  List<String> unknown(JavaClasses classes) {
    List<String> known = LINES.stream().flatMap(List::stream).map(base::concat).toList();
    TreeSet<String> found = new TreeSet<>();
    classes.forEach(c -> found.add(c.getPackageName()));
    known.forEach(found::remove);
    found.remove(base.substring(0, base.length() - 1));
    return new ArrayList<>(found);
  }

  /** A room may import those above it, never those beside or below it. */
  List<ArchRule> order() {
    List<ArchRule> rules = new ArrayList<>();
    for (int line = 0; line < LINES.size(); line++) {
      List<String> below =
          LINES.subList(line + 1, LINES.size()).stream().flatMap(List::stream).toList();
      for (String room : LINES.get(line)) {
        Stream<String> beside = LINES.get(line).stream().filter(other -> !other.equals(room));
        String[] forbidden =
            Stream.concat(beside, below.stream()).map(base::concat).toArray(String[]::new);
        if (forbidden.length > 0) {
          rules.add(
              noClasses()
                  .that()
                  .resideInAPackage(base + room)
                  .should()
                  .dependOnClassesThat()
                  .resideInAnyPackage(forbidden)
                  .allowEmptyShould(true));
        }
      }
    }
    return rules;
  }

  /** Only the plugin and the examples know what clusters are made of. */
  ArchRule withoutSpark() {
    return noClasses()
        .that()
        .resideInAnyPackage(
            LINES.subList(0, FIRST_OF_SPARK).stream()
                .flatMap(List::stream)
                .map(base::concat)
                .toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(CLUSTERS)
        .allowEmptyShould(true);
  }

  /** Transports move bytes and add nothing. */
  ArchRule transportsWithoutFolds() {
    return noClasses()
        .that()
        .resideInAPackage(base + "transport..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(base + "fold..", base + "engine..")
        .allowEmptyShould(true);
  }

  /** Folds add, and what bytes look like on a wire is nobody's socket. */
  ArchRule withoutSocketsAndThreads() {
    return noClasses()
        .that()
        .resideInAnyPackage(base + "fold..", base + "contract..", base + "view..", base + "wire..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.net..", "java.nio.channels..")
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching("java\\.util\\.concurrent\\..*(Executor|ForkJoin|Future).*")
        .orShould()
        .callMethod(Thread.class, "start")
        .allowEmptyShould(true);
  }

  /** No two packages import each other, directly or in a circle. */
  ArchRule withoutCircles() {
    return SlicesRuleDefinition.slices()
        .matching(base + "(**)")
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true);
  }

  /** What public classes show of a package in their public and protected signatures. */
  static List<String> signaturesWith(String foreignPackage, JavaClasses classes) {
    List<String> found = new ArrayList<>();
    for (JavaClass shown : classes) {
      if (!shown.getModifiers().contains(JavaModifier.PUBLIC)) {
        continue;
      }
      for (JavaCodeUnit unit : shown.getCodeUnits()) {
        boolean foreign =
            isOf(foreignPackage, unit.getRawReturnType())
                || unit.getRawParameterTypes().stream().anyMatch(t -> isOf(foreignPackage, t));
        if (foreign && isShown(unit.getModifiers())) {
          found.add(unit.getFullName());
        }
      }
      for (JavaField field : shown.getFields()) {
        if (isOf(foreignPackage, field.getRawType()) && isShown(field.getModifiers())) {
          found.add(field.getFullName());
        }
      }
    }
    return found;
  }

  private static boolean isShown(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }

  private static boolean isOf(String foreignPackage, JavaClass type) {
    return type.getBaseComponentType().getPackageName().startsWith(foreignPackage);
  }
}
