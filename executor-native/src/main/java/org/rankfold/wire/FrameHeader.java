// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.InternalApi;
import org.rankfold.contract.DType;

/**
 * The fixed beginning of every frame, little-endian:
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                        magic  "RKF1"                          |  0
 *  +---------------+---------------+---------------+---------------+
 *  |    version    |     type      |     phase     |     dtype     |  4
 *  +---------------+---------------+---------------+---------------+
 *  |                        group epoch                            |  8
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                        call number                            | 16
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                        contract hash                          | 24
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                        rank index                             | 32
 *  +---------------------------------------------------------------+
 *  |                        chunk                                  | 36
 *  +---------------------------------------------------------------+
 *  |                        payload length in bytes                | 40
 *  +---------------------------------------------------------------+
 *  |                        zero                                   | 44
 *  +---------------------------------------------------------------+
 *  |                        slots given back so far                | 48
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * Writing is here; reading is {@link FrameDecoder}'s, which refuses what no correct peer sends.
 */
@InternalApi
public final class FrameHeader {
  /** The size of a header. */
  public static final int BYTES = 56;

  static final int MAGIC = 'R' | 'K' << 8 | 'F' << 16 | '1' << 24;
  static final byte VERSION = 1;

  static final int MAGIC_OFFSET = 0;
  static final int VERSION_OFFSET = 4;
  static final int TYPE_OFFSET = 5;
  static final int PHASE_OFFSET = 6;
  static final int DTYPE_OFFSET = 7;
  static final int EPOCH_OFFSET = 8;
  static final int CALL_OFFSET = 16;
  static final int CONTRACT_OFFSET = 24;
  static final int INDEX_OFFSET = 32;
  static final int CHUNK_OFFSET = 36;
  static final int LENGTH_OFFSET = 40;
  static final int ZERO_OFFSET = 44;
  static final int RELEASED_OFFSET = 48;

  private FrameHeader() {}

  /**
   * Appends a header without elements: of a PULSE, ABORT or GOODBYE.
   *
   * @param to where to, at its position
   * @param type what the frame is
   * @param epoch the group's
   * @param length bytes that follow
   * @param released slots given back so far
   */
  public static void put(ByteBuffer to, FrameType type, long epoch, int length, long released) {
    put(to, type, 0, 0, epoch, 0, 0, 0, 0, length, released);
  }

  /**
   * Appends the header of a CALL.
   *
   * @param to where to, at its position
   * @param epoch the group's
   * @param call the call's number
   * @param contract the hash of the call's header
   * @param length bytes that follow
   * @param released slots given back so far
   */
  public static void putCall(
      ByteBuffer to, long epoch, long call, long contract, int length, long released) {
    put(to, FrameType.CALL, 0, 0, epoch, call, contract, 0, 0, length, released);
  }

  /**
   * Appends the header of DATA.
   *
   * @param to where to, at its position
   * @param epoch the group's
   * @param call the call's number
   * @param contract the hash of the call's header
   * @param phase what the elements are, from 1
   * @param dtype the elements' type
   * @param index the rank index of the elements
   * @param chunk the stretch, from 0
   * @param length bytes that follow
   * @param released slots given back so far
   */
  public static void putData(
      ByteBuffer to,
      long epoch,
      long call,
      long contract,
      int phase,
      DType dtype,
      int index,
      int chunk,
      int length,
      long released) {
    int dtypeCode = WireCodes.ofDType(dtype);
    put(
        to,
        FrameType.DATA,
        phase,
        dtypeCode,
        epoch,
        call,
        contract,
        index,
        chunk,
        length,
        released);
  }

  private static void put(
      ByteBuffer to,
      FrameType type,
      int phase,
      int dtype,
      long epoch,
      long call,
      long contract,
      int index,
      int chunk,
      int length,
      long released) {
    int at = to.position();
    to.order(ByteOrder.LITTLE_ENDIAN);
    to.putInt(at + MAGIC_OFFSET, MAGIC);
    to.put(at + VERSION_OFFSET, VERSION);
    to.put(at + TYPE_OFFSET, type.code());
    to.put(at + PHASE_OFFSET, (byte) phase);
    to.put(at + DTYPE_OFFSET, (byte) dtype);
    to.putLong(at + EPOCH_OFFSET, epoch);
    to.putLong(at + CALL_OFFSET, call);
    to.putLong(at + CONTRACT_OFFSET, contract);
    to.putInt(at + INDEX_OFFSET, index);
    to.putInt(at + CHUNK_OFFSET, chunk);
    to.putInt(at + LENGTH_OFFSET, length);
    to.putInt(at + ZERO_OFFSET, 0);
    to.putLong(at + RELEASED_OFFSET, released);
    to.position(at + BYTES);
  }
}
