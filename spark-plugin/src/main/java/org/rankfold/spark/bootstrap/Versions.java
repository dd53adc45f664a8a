// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import org.rankfold.contract.ReduceContract;

/**
 * What a task runs on. Rankfold and the contract must be equal in a group; Java and Spark are for
 * messages, as no bit depends on them.
 *
 * @param rankfold the version of this build
 * @param contract the version of the rules that fix the bits
 * @param java the JVM's
 * @param spark the cluster's
 */
record Versions(String rankfold, int contract, String java, String spark) {
  /** Of this process. */
  static Versions own() {
    Properties properties = new Properties();
    try (InputStream in = Versions.class.getResourceAsStream("version.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("version.properties", e);
    }
    return new Versions(
        properties.getProperty("version", "unknown"),
        ReduceContract.VERSION,
        System.getProperty("java.version"),
        org.apache.spark.package$.MODULE$.SPARK_VERSION());
  }
}
