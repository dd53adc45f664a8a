// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.rankfold.config.ConfigKey;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import scala.Tuple2;

/** Settings of Spark and Rankfold under which groups fail, and what to change. */
final class SettingsReview {
  /**
   * One such setting.
   *
   * @param code why a group would be refused
   * @param text the setting and what to change
   * @param refuses whether every group is refused; else groups that need it are
   */
  record Finding(ErrorCode code, String text, boolean refuses) {}

  private SettingsReview() {}

  static List<Finding> of(SparkConf conf, String master) {
    List<Finding> findings = new ArrayList<>();
    boolean local = Slots.isLocal(master);
    if (!local && conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
      findings.add(
          new Finding(
              ErrorCode.UNSUPPORTED,
              "spark.dynamicAllocation.enabled=true: Spark runs no barrier stage under dynamic"
                  + " allocation (SPARK-24942); set it to false and name spark.executor.instances",
              true));
    }
    if (local) {
      taskResources(conf, findings);
    }
    rankfoldSettings(conf, findings);
    return findings;
  }

  private static void taskResources(SparkConf conf, List<Finding> findings) {
    for (Tuple2<String, String> entry : conf.getAll()) {
      if (entry._1().startsWith("spark.task.resource.")) {
        findings.add(
            new Finding(
                ErrorCode.UNSUPPORTED,
                entry._1()
                    + "="
                    + entry._2()
                    + ": a local master assigns no resources and would wait for ever; remove it",
                true));
      }
    }
  }

  private static void rankfoldSettings(SparkConf conf, List<Finding> findings) {
    List<String> known = ConfigKeys.all().stream().map(ConfigKey::name).toList();
    for (Tuple2<String, String> entry : conf.getAll()) {
      if (entry._1().startsWith("spark.rankfold.") && !known.contains(entry._1())) {
        findings.add(
            new Finding(
                ErrorCode.INVALID_CONFIG,
                entry._1() + " is none of Rankfold's settings; see docs/configuration.md",
                false));
      }
    }
    try {
      requireValid(key -> conf.get(key, null));
    } catch (CollectiveException e) {
      findings.add(new Finding(e.code(), e.getMessage(), true));
    }
  }

  /** Parses every setting, and concludes a group's. */
  static void requireValid(ConfigSource source) {
    ConfigKeys.all().forEach(key -> key.of(source));
    GroupConfig.of(source).fold();
  }

  /** What a plan's own overrides may be. */
  static void requireKnown(String key) {
    String[] known = ConfigKeys.all().stream().map(ConfigKey::name).toArray(String[]::new);
    if (!Arrays.asList(known).contains(key)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_CONFIG,
          "%s is none of Rankfold's settings: %s",
          key,
          String.join(", ", known));
    }
  }
}
