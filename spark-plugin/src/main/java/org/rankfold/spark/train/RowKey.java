// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.ByteArrayOutputStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * What a row is known by: its canonical bytes place it on a logical rank and order it among the
 * rank's rows. An immutable value; give it what names a row wherever the job runs (an id, a name),
 * nothing that a machine or a run chooses.
 *
 * <p><b>Canonical bytes.</b> One stretch for each component, one after another: a tag byte, then 1
 * (whole number): 8 bytes, big-endian, sign bit flipped; 2 (text): UTF-8; 3 (bytes): as they are; 4
 * (float or double): 8 bytes of the double's bits (any NaN is 7ff8000000000000), negative ones
 * complemented, others with the sign bit flipped; 0 is null and has no payload. In 2 and 3 a byte
 * 00 becomes 00 ff, and 00 00 ends the component. Keys compare as unsigned bytes, so numbers and
 * text are in their usual order.
 *
 * <p><b>Placement.</b> {@code h = 64-bit FNV-1a of the bytes}, {@code mix} the finaliser of
 * splitmix64, {@code logical rank = mix(h) modulo world}, unsigned. It depends on the key and the
 * world only: not on tasks, partitions, cores or other rows. Ranks get about equally many rows (n
 * rows on L ranks: n / L, give or take the square root of that).
 */
public final class RowKey implements Comparable<RowKey>, Serializable {
  private static final long serialVersionUID = 1L;
  private static final byte NULL = 0;
  private static final byte WHOLE = 1;
  private static final byte TEXT = 2;
  private static final byte BYTES = 3;
  private static final byte FLOATING = 4;

  private final byte[] bytes;

  private RowKey(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * A whole number.
   *
   * @param value any
   * @return its key
   */
  public static RowKey of(long value) {
    return eight(WHOLE, value ^ Long.MIN_VALUE);
  }

  /**
   * Text.
   *
   * @param value any text; null has a key of its own
   * @return its key
   */
  public static RowKey of(String value) {
    return value == null
        ? new RowKey(new byte[] {NULL})
        : stretch(TEXT, value.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Bytes.
   *
   * @param value copied
   * @return their key
   */
  public static RowKey of(byte[] value) {
    return stretch(BYTES, value);
  }

  /**
   * This key's components, then another's.
   *
   * @param next what follows
   * @return the longer key
   */
  public RowKey then(RowKey next) {
    byte[] both = Arrays.copyOf(bytes, bytes.length + next.bytes.length);
    System.arraycopy(next.bytes, 0, both, bytes.length, next.bytes.length);
    return new RowKey(both);
  }

  /** The key of a column's value, or null for a type that has none. */
  static RowKey ofValue(Object value) {
    if (value == null) {
      return of((String) null);
    } else if (value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte) {
      return of(((Number) value).longValue());
    } else if (value instanceof String text) {
      return of(text);
    } else if (value instanceof Boolean truth) {
      return of(truth ? 1 : 0);
    } else if (value instanceof Double || value instanceof Float) {
      return ofDouble(((Number) value).doubleValue());
    } else if (value instanceof BigDecimal number) {
      return of(number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString());
    } else if (value instanceof byte[] raw) {
      return of(raw);
    }
    return ofTime(value);
  }

  private static RowKey ofTime(Object value) {
    if (value instanceof LocalDate date) {
      return of(date.toEpochDay());
    } else if (value instanceof java.sql.Date date) {
      return of(date.toLocalDate().toEpochDay());
    } else if (value instanceof Instant instant) {
      return of(instant.getEpochSecond()).then(of(instant.getNano()));
    } else if (value instanceof java.sql.Timestamp timestamp) {
      return ofTime(timestamp.toInstant());
    } else if (value instanceof LocalDateTime local) {
      return ofTime(local.toInstant(ZoneOffset.UTC));
    }
    return null;
  }

  private static RowKey ofDouble(double value) {
    long bits = Double.doubleToLongBits(value);
    return eight(FLOATING, bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
  }

  private static RowKey eight(byte tag, long payload) {
    return new RowKey(ByteBuffer.allocate(9).put(tag).putLong(payload).array());
  }

  private static RowKey stretch(byte tag, byte[] payload) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(payload.length + 3);
    out.write(tag);
    for (byte b : payload) {
      out.write(b);
      if (b == 0) {
        out.write(0xff);
      }
    }
    out.write(0);
    out.write(0);
    return new RowKey(out.toByteArray());
  }

  /** The logical rank where a row of this key belongs. */
  int rank(int world) {
    long h = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      h = (h ^ (b & 0xff)) * 0x100000001b3L;
    }
    return (int) Long.remainderUnsigned(mix(h), world);
  }

  private static long mix(long word) {
    long z = (word ^ (word >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  @Override
  public int compareTo(RowKey other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowKey key && Arrays.equals(bytes, key.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** The components, for messages: {@code (7, 'a', null)}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("(");
    ByteBuffer in = ByteBuffer.wrap(bytes);
    while (in.hasRemaining()) {
      text.append(text.length() > 1 ? ", " : "");
      byte tag = in.get();
      switch (tag) {
        case NULL -> text.append("null");
        case WHOLE -> text.append(in.getLong() ^ Long.MIN_VALUE);
        case FLOATING -> {
          long payload = in.getLong();
          text.append(Double.longBitsToDouble(payload < 0 ? payload ^ Long.MIN_VALUE : ~payload));
        }
        case TEXT ->
            text.append('\'').append(new String(payload(in), StandardCharsets.UTF_8)).append('\'');
        default -> text.append(HexFormat.of().formatHex(payload(in)));
      }
    }
    return text.append(')').toString();
  }

  private static byte[] payload(ByteBuffer in) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte b = in.get(); ; b = in.get()) {
      if (b == 0 && in.get() == 0) {
        return out.toByteArray();
      }
      out.write(b);
    }
  }
}
