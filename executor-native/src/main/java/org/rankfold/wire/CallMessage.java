// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.rankfold.InternalApi;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * What a task says of a call, as the payload of a CALL frame, little-endian:
 *
 * <pre>
 *   0 kind (1 byte), 1 dtype, 2 op, 3 order      0 says none
 *   4 world of the contract                      0 without one
 *   8 count of elements (8 bytes)
 *  16 root
 *  20 chunk in bytes
 *  24 place of the task's memory                 0 host, 1 device, from 2 on what peers know of it
 *  28 refusal's code                             0 says none
 *  32 length of the refusal's text in bytes
 *  36 the refusal's text, UTF-8
 * </pre>
 *
 * @param kind which collective, from 1 to {@link #KINDS}
 * @param contract what fixes the bits, or null
 * @param dtype the element type, or null
 * @param count elements
 * @param root the root's logical rank, or what the caller gave for it
 * @param chunkBytes the stretch in which bytes move
 * @param memory where the task's memory lies, at least 0
 * @param refusal why the task refuses the call, or null
 * @param refusalText the refusal's message, or null
 */
@InternalApi
public record CallMessage(
    int kind,
    ReduceContract contract,
    DType dtype,
    long count,
    int root,
    int chunkBytes,
    int memory,
    ErrorCode refusal,
    String refusalText) {
  /** The number of kinds. */
  public static final int KINDS = 5;

  /** The size without a text. */
  public static final int FIXED_BYTES = 36;

  /** The size with the longest text. */
  public static final int MOST_BYTES = FIXED_BYTES + WireText.MOST_BYTES;

  private static final int HASHED_BYTES = 24;

  /**
   * The size of the payload.
   *
   * @return bytes
   */
  public int byteCount() {
    return FIXED_BYTES + (refusal == null ? 0 : WireText.bytes(refusalText).length);
  }

  /**
   * Appends the payload.
   *
   * @param to where to, at its position
   */
  public void put(ByteBuffer to) {
    to.order(ByteOrder.LITTLE_ENDIAN);
    to.put((byte) kind);
    to.put((byte) WireCodes.ofDType(dtype));
    to.put((byte) (contract == null ? 0 : WireCodes.ofOp(contract.op())));
    to.put((byte) (contract == null ? 0 : WireCodes.ofOrder(contract.order())));
    to.putInt(contract == null ? 0 : contract.world());
    to.putLong(count);
    to.putInt(root);
    to.putInt(chunkBytes);
    to.putInt(memory);
    byte[] text = refusal == null ? new byte[0] : WireText.bytes(refusalText);
    to.putInt(refusal == null ? 0 : refusal.number());
    to.putInt(text.length);
    to.put(text);
  }

  /**
   * The hash that a CALL and all DATA of its call carry: FNV-1a of the first 24 bytes of a payload.
   *
   * @param payload where the payload lies
   * @param at its first byte
   * @return 64 bits
   */
  public static long hash(ByteBuffer payload, int at) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < HASHED_BYTES; i++) {
      hash = (hash ^ (payload.get(at + i) & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }

  /**
   * Reads a payload.
   *
   * @param from position and limit enclose the payload; read to its end
   * @return what it says
   * @throws RefusedBytes when no correct peer sends it
   */
  public static CallMessage read(ByteBuffer from) throws RefusedBytes {
    if (from.remaining() < FIXED_BYTES) {
      throw new RefusedBytes(
          WireRefusal.BAD_LENGTH, "call of %d bytes < %d", from.remaining(), FIXED_BYTES);
    }
    from.order(ByteOrder.LITTLE_ENDIAN);
    int kind = from.get();
    require(kind >= 1 && kind <= KINDS, "kind", kind);
    DType dtype = WireCodes.dtype(from.get());
    int op = from.get();
    int order = from.get();
    int world = from.getInt();
    ReduceContract contract = contract(dtype, op, order, world);
    long count = from.getLong();
    require(count >= 0, "count", count);
    int root = from.getInt();
    int chunkBytes = from.getInt();
    require(chunkBytes >= 1, "chunkBytes", chunkBytes);
    int place = from.getInt();
    require(place >= 0, "place", place);
    int refusalNumber = from.getInt();
    int textLength = from.getInt();
    if (textLength != from.remaining()) {
      throw new RefusedBytes(
          WireRefusal.BAD_LENGTH, "text of %d bytes != %d left", textLength, from.remaining());
    }
    require(refusalNumber != 0 || textLength == 0, "text without a refusal", textLength);
    ErrorCode refusal = refusalNumber == 0 ? null : ErrorCode.ofNumber(refusalNumber);
    byte[] text = new byte[textLength];
    from.get(text);
    return new CallMessage(
        kind,
        contract,
        dtype,
        count,
        root,
        chunkBytes,
        place,
        refusal,
        refusal == null ? null : new String(text, StandardCharsets.UTF_8));
  }

  private static ReduceContract contract(DType dtype, int op, int order, int world)
      throws RefusedBytes {
    if (op == 0 && order == 0 && world == 0) {
      return null;
    }
    try {
      return new ReduceContract(dtype, WireCodes.op(op), WireCodes.order(order), world);
    } catch (NullPointerException | CollectiveException e) {
      throw new RefusedBytes(
          WireRefusal.BAD_FIELD,
          "no contract of dtype=%s op=%d order=%d world=%d",
          dtype,
          op,
          order,
          world);
    }
  }

  private static void require(boolean fits, String what, long value) throws RefusedBytes {
    if (!fits) {
      throw new RefusedBytes(WireRefusal.BAD_FIELD, "%s=%d", what, value);
    }
  }
}
