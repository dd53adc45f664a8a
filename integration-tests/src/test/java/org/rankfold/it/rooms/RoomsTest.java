// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every rule passes on what ships and fails on a small wrong tree: a rule that cannot fail says
 * nothing.
 */
class RoomsTest {
  private static final String WRONG_BASE = RoomsTest.class.getPackageName() + ".wrong";
  private static final JavaClasses SHIPPED =
      new ClassFileImporter()
          .withImportOption(location -> !location.contains("org/rankfold/it/"))
          .withImportOption(location -> !location.contains("/test-classes/"))
          .importPackages("org.rankfold");
  private static final JavaClasses WRONG = new ClassFileImporter().importPackages(WRONG_BASE);

  private final Rooms rooms = new Rooms("org.rankfold");
  private final Rooms wrongRooms = new Rooms(WRONG_BASE);

  private static List<String> violations(ArchRule rule, JavaClasses classes) {
    return rule.evaluate(classes).getFailureReport().getDetails();
  }

  private static List<String> violations(List<ArchRule> rules, JavaClasses classes) {
    return rules.stream().flatMap(rule -> violations(rule, classes).stream()).toList();
  }

  @Test
  void shouldSeeTheClassesOfEveryModule() {
    assertThat(SHIPPED.contain("org.rankfold.contract.DType")).isTrue();
    assertThat(SHIPPED.contain("org.rankfold.engine.Engine")).isTrue();
    assertThat(SHIPPED.contain("org.rankfold.spark.Rankfold")).isTrue();
    assertThat(SHIPPED.contain("org.rankfold.examples.RankfoldCommand")).isTrue();
    assertThat(SHIPPED.stream().map(c -> c.getPackageName()))
        .noneMatch(name -> name.startsWith("org.rankfold.it"));
  }

  @Test
  void shouldKnowEveryPackage() {
    assertThat(rooms.unknown(SHIPPED)).isEmpty();
    assertThat(wrongRooms.unknown(WRONG)).containsExactly(WRONG_BASE + ".cellar");
  }

  @Test
  void shouldImportOnlyRoomsAbove() {
    assertThat(violations(rooms.order(), SHIPPED)).isEmpty();
    assertThat(violations(wrongRooms.order(), WRONG))
        .anyMatch(line -> line.contains("errors.LooksDown") && line.contains("fold.Adds"))
        .anyMatch(line -> line.contains("loopback.Ours") && line.contains("tcp.Theirs"));
  }

  @Test
  void shouldKnowSparkInThePluginAndTheExamplesOnly() {
    assertThat(violations(rooms.withoutSpark(), SHIPPED)).isEmpty();
    assertThat(violations(wrongRooms.withoutSpark(), WRONG))
        .isNotEmpty()
        .allMatch(line -> line.contains("fold.Adds") && line.contains("SparkConf"));
  }

  @Test
  void shouldMoveBytesInTransportsWithoutAdding() {
    assertThat(violations(rooms.transportsWithoutFolds(), SHIPPED)).isEmpty();
    assertThat(violations(wrongRooms.transportsWithoutFolds(), WRONG))
        .isNotEmpty()
        .allMatch(line -> line.contains("tcp.Theirs") && line.contains("fold.Adds"));
  }

  @Test
  void shouldAddWithoutSocketsAndThreads() {
    assertThat(violations(rooms.withoutSocketsAndThreads(), SHIPPED)).isEmpty();
    assertThat(violations(wrongRooms.withoutSocketsAndThreads(), WRONG))
        .anyMatch(line -> line.contains("fold.Adds") && line.contains("java.net.Socket"))
        .anyMatch(line -> line.contains("fold.Adds") && line.contains("Thread.start"))
        .anyMatch(line -> line.contains("fold.Adds") && line.contains("ExecutorService"));
  }

  @Test
  void shouldHaveNoCircles() {
    assertThat(violations(rooms.withoutCircles(), SHIPPED)).isEmpty();
    assertThat(violations(wrongRooms.withoutCircles(), WRONG))
        .anyMatch(line -> line.contains("errors") && line.contains("fold"));
  }

  @Test
  void shouldShowNoTypeOfJavaCppInASignature() {
    assertThat(Rooms.signaturesWith("org.bytedeco", SHIPPED)).isEmpty();
    assertThat(Rooms.signaturesWith("org.apache.spark", WRONG))
        .singleElement()
        .asString()
        .contains("fold.Adds.connect");
  }
}
