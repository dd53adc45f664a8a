// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** Real Spark in this JVM, quiet. */
final class LocalSpark {
  private LocalSpark() {}

  static SparkConf conf(int cores) {
    return new SparkConf()
        .setMaster("local[" + cores + "]")
        .setAppName("rankfold-test")
        .set("spark.ui.enabled", "false");
  }

  static JavaSparkContext start(int cores) {
    return new JavaSparkContext(conf(cores));
  }
}
