// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import scala.util.Properties;

/**
 * The Scala that Spark was built for. Another one than ours would fail with whichever method is
 * missed first, so it is asked for before anything else is done.
 */
final class ScalaRelease {
  private static final String WANTED = "2.13";

  private ScalaRelease() {}

  /**
   * Refuses this process's Spark when it is of another Scala.
   *
   * @throws CollectiveException UNSUPPORTED with both versions
   */
  static void require() {
    require(Properties.versionNumberString());
  }

  static void require(String found) {
    if (!found.startsWith(WANTED + ".")) {
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED,
          String.format(
              "Rankfold needs Spark for Scala %1$s: scala=%2$s != %1$s.x; take a Spark whose jars"
                  + " end in _%1$s",
              WANTED, found));
    }
  }
}
