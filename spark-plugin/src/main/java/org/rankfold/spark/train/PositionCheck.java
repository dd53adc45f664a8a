// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.rdd.RDD;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Whether a row's position in an RDD means the same on any machine. Spark's deterministic level
 * says whether a shuffle decides it; Spark calls files determinate whatever the order of the
 * listing and the packing of their splits, so the lineage is held against a list of what keeps
 * order.
 */
final class PositionCheck {
  private static final Set<String> KEEP_ORDER =
      Set.of(
          "ParallelCollectionRDD",
          "MapPartitionsRDD",
          "ZippedWithIndexRDD",
          "UnionRDD",
          "EmptyRDD");

  private PositionCheck() {}

  static void requireStable(RDD<?> rdd) {
    String level = rdd.outputDeterministicLevel().toString();
    if (!level.equals("DETERMINATE")) {
      throw CollectiveException.usage(
          ErrorCode.UNORDERED_DATA,
          "%s: Spark's order of its rows is %s, not DETERMINATE; give a key:"
              + " KeyedRows.of(rows, key)",
          rdd,
          level);
    }
    requireKept(rdd, rdd);
  }

  private static void requireKept(RDD<?> rdd, RDD<?> asked) {
    if (!KEEP_ORDER.contains(rdd.getClass().getSimpleName())) {
      throw CollectiveException.usage(
          ErrorCode.UNORDERED_DATA,
          "%s: the order of its rows comes from %s, where cores, partitions or a file system may"
              + " decide it; give a key: KeyedRows.of(rows, key)",
          asked,
          rdd.getClass().getSimpleName());
    }
    for (Dependency<?> dependency : CollectionConverters.asJava(rdd.dependencies())) {
      requireKept(dependency.rdd(), asked);
    }
  }
}
