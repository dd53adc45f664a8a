// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import scala.jdk.javaapi.CollectionConverters;

/** Whether a query's rows are the same ones on any number of cores, as far as its plan says. */
final class QueryCheck {
  private static final Set<String> LIMITS = Set.of("GlobalLimit", "LocalLimit", "Offset", "Tail");
  private static final Set<String> ROW_BY_ROW =
      Set.of("Project", "Filter", "SubqueryAlias", "View", "LogicalRelation");

  private QueryCheck() {}

  static LogicalPlan plan(Dataset<Row> data) {
    if (data instanceof org.apache.spark.sql.classic.Dataset<Row> classic) {
      return classic.queryExecution().analyzed();
    }
    throw CollectiveException.usage(
        ErrorCode.UNSUPPORTED,
        "%s: Spark Connect has no barrier tasks; use a classic session",
        data.getClass().getName());
  }

  /** Refuses chance: random numbers, samples, limits without a sort. */
  static void requireRepeatable(LogicalPlan plan) {
    if (!plan.deterministic()) {
      throw unordered(
          plan, "uses a function whose value depends on chance or partitions, such as rand()");
    }
    requireChosen(plan);
  }

  private static void requireChosen(LogicalPlan plan) {
    String node = plan.nodeName();
    if (node.equals("Sample")) {
      throw unordered(plan, "takes a sample, which depends on partitions");
    }
    if (LIMITS.contains(node) && !sortsFirst(plan)) {
      throw unordered(plan, "takes a limit without a sort: which rows, depends on partitions");
    }
    for (LogicalPlan child : children(plan)) {
      requireChosen(child);
    }
  }

  private static boolean sortsFirst(LogicalPlan limit) {
    LogicalPlan below = children(limit).get(0);
    return LIMITS.contains(below.nodeName())
        ? sortsFirst(below)
        : below instanceof Sort sort && sort.global();
  }

  /** Refuses all but one read of files with columns chosen or computed and rows filtered. */
  static void requirePlainScan(LogicalPlan plan) {
    requireRepeatable(plan);
    LogicalPlan node = plan;
    while (!children(node).isEmpty()) {
      requireRowByRow(node);
      node = children(node).get(0);
    }
    requireRowByRow(node);
    if (!(node instanceof LogicalRelation relation
        && relation.relation() instanceof HadoopFsRelation files)) {
      throw unordered(plan, "does not read files: its rows have no file position");
    }
    String[] paths = files.location().inputFiles();
    long distinct = Arrays.stream(paths).distinct().count();
    if (distinct != paths.length) {
      throw unordered(
          plan, "reads " + paths.length + " files of which only " + distinct + " are different");
    }
  }

  private static void requireRowByRow(LogicalPlan node) {
    if (!ROW_BY_ROW.contains(node.nodeName()) && !(node instanceof LogicalRelation)) {
      throw unordered(
          node, "goes through " + node.nodeName() + ": its rows have no file position any more");
    }
  }

  private static List<LogicalPlan> children(LogicalPlan plan) {
    return CollectionConverters.asJava(plan.children());
  }

  private static CollectiveException unordered(LogicalPlan plan, String what) {
    return CollectiveException.usage(
        ErrorCode.UNORDERED_DATA,
        "the query %s; write its result to a table first, or name key columns:"
            + " KeyedRows.byColumns (at %s)",
        what,
        plan.nodeName());
  }
}
