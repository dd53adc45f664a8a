// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** What a task tells its peers while they find out how they reach one another: names and texts. */
final class PeerRow {
  private static final String FAILURE = "failure";

  private final Map<String, String> fields = new LinkedHashMap<>();

  PeerRow put(String name, String value) {
    fields.put(name, value.replace('\n', ' '));
    return this;
  }

  PeerRow put(String name, long value) {
    return put(name, Long.toString(value));
  }

  PeerRow put(String name, byte[] bytes) {
    return put(name, HexFormat.of().formatHex(bytes));
  }

  /** Instead of what the task should have said. */
  static PeerRow failed(RuntimeException e) {
    String text = e.getMessage() == null ? e.toString() : e.getMessage();
    return new PeerRow().put(FAILURE, text.substring(0, Math.min(text.length(), 300)));
  }

  /** Why the task could not take a step, or null. */
  String failure() {
    return fields.get(FAILURE);
  }

  String text(String name) {
    String value = fields.get(name);
    if (value == null) {
      throw new CollectiveException(ErrorCode.PROTOCOL, "a peer's row lacks " + name + ": " + this);
    }
    return value;
  }

  long number(String name) {
    return Long.parseLong(text(name));
  }

  byte[] bytes(String name) {
    return HexFormat.of().parseHex(text(name));
  }

  String encode() {
    StringBuilder text = new StringBuilder();
    fields.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return text.toString();
  }

  static PeerRow decode(String text) {
    PeerRow row = new PeerRow();
    for (String line : text.lines().toList()) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        row.fields.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return row;
  }

  @Override
  public String toString() {
    return fields.toString();
  }
}
