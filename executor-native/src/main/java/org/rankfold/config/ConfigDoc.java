// SPDX-License-Identifier: Apache-2.0
package org.rankfold.config;

/** Writes docs/configuration.md from the declared keys. */
final class ConfigDoc {
  private ConfigDoc() {}

  static String markdown() {
    StringBuilder text =
        new StringBuilder(
            """
            # Configuration

            Written from the keys in `ConfigKeys`; a test fails when it differs. Rewrite it with
            `mvn -pl executor-native -am test -Dtest=ConfigDocTest -Dsurefire.failIfNoSpecifiedTests=false -Dtest.flags=-Drankfold.write=true`.

            Settings are given as Spark settings (`--conf`, `spark-defaults.conf`, the session's builder) or for one group
            with `Rankfold.set`. Durations are written as `500ms`, `30s`, `10min`, sizes as `4096`, `256k`, `1m`.

            | key | values | default | what it does |
            |---|---|---|---|
            """);
    for (ConfigKey<?> key : ConfigKeys.all()) {
      text.append("| `")
          .append(key.name())
          .append("` | ")
          .append(key.type())
          .append(" | `")
          .append(key.defaultText())
          .append("` | ")
          .append(key.doc())
          .append(" |\n");
    }
    return text.toString();
  }
}
