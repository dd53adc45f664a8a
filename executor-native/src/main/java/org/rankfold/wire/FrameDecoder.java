// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.InternalApi;
import org.rankfold.contract.DType;

/**
 * Reads the headers of one connection's frames in order and refuses, with a named reason, whatever
 * no correct peer of the group sends: the length of a payload is known to be within its bound
 * before a byte of it is read. After a refusal the connection is of no more use. Owned by whoever
 * reads the connection; allocates nothing but a refusal.
 */
@InternalApi
public final class FrameDecoder {
  /** The number of phases that DATA may have. */
  public static final int PHASES = 3;

  private final long epoch;
  private final int chunkBytes;
  private final int world;

  private FrameType type;
  private int phase;
  private DType dtype;
  private int index;
  private int chunk;
  private int length;
  private long call;
  private long contract;
  private long released;
  private boolean ended;

  /**
   * A decoder of a connection that has just passed the handshake.
   *
   * @param epoch the group's
   * @param chunkBytes the largest payload of DATA
   * @param world logical ranks of the group
   */
  public FrameDecoder(long epoch, int chunkBytes, int world) {
    this.epoch = epoch;
    this.chunkBytes = chunkBytes;
    this.world = world;
  }

  /**
   * Reads a header.
   *
   * @param bytes holds a whole header at {@code at}; position and limit stay
   * @param at the header's first byte
   * @param sent DATA frames sent to the peer so far: it cannot give more slots back
   * @throws RefusedBytes when no correct peer sends this header now
   */
  public void accept(ByteBuffer bytes, int at, long sent) throws RefusedBytes {
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    int magic = bytes.getInt(at + FrameHeader.MAGIC_OFFSET);
    if (magic != FrameHeader.MAGIC) {
      throw refused(WireRefusal.BAD_MAGIC, "magic", magic, FrameHeader.MAGIC);
    }
    byte version = bytes.get(at + FrameHeader.VERSION_OFFSET);
    if (version != FrameHeader.VERSION) {
      throw refused(WireRefusal.BAD_VERSION, "version", version, FrameHeader.VERSION);
    }
    byte typeCode = bytes.get(at + FrameHeader.TYPE_OFFSET);
    type = FrameType.ofCode(typeCode);
    if (type == null || ended) {
      throw new RefusedBytes(
          WireRefusal.BAD_TYPE, "type=%d%s", typeCode, ended ? " after GOODBYE" : "");
    }
    long frameEpoch = bytes.getLong(at + FrameHeader.EPOCH_OFFSET);
    if (frameEpoch != epoch) {
      throw refused(WireRefusal.STALE_EPOCH, "epoch", frameEpoch, epoch);
    }
    phase = bytes.get(at + FrameHeader.PHASE_OFFSET);
    dtype = WireCodes.dtype(bytes.get(at + FrameHeader.DTYPE_OFFSET));
    index = bytes.getInt(at + FrameHeader.INDEX_OFFSET);
    chunk = bytes.getInt(at + FrameHeader.CHUNK_OFFSET);
    length = bytes.getInt(at + FrameHeader.LENGTH_OFFSET);
    requireZero("reserved", bytes.getInt(at + FrameHeader.ZERO_OFFSET));
    credit(bytes.getLong(at + FrameHeader.RELEASED_OFFSET), sent);
    long frameCall = bytes.getLong(at + FrameHeader.CALL_OFFSET);
    long frameContract = bytes.getLong(at + FrameHeader.CONTRACT_OFFSET);
    if (type == FrameType.DATA) {
      data(frameCall, frameContract);
    } else {
      control(frameCall, frameContract);
    }
  }

  private void credit(long newReleased, long sent) throws RefusedBytes {
    if (newReleased < released || newReleased > sent) {
      throw new RefusedBytes(
          WireRefusal.OUT_OF_SEQUENCE,
          "released=%d is not from %d to %d",
          newReleased,
          released,
          sent);
    }
    released = newReleased;
  }

  private void data(long frameCall, long frameContract) throws RefusedBytes {
    if (frameCall != call || call == 0) {
      throw refused(WireRefusal.OUT_OF_SEQUENCE, "data of call", frameCall, call);
    }
    if (frameContract != contract) {
      throw refused(WireRefusal.CONTRACT_MISMATCH, "contract", frameContract, contract);
    }
    requireRange(WireRefusal.BAD_FIELD, "phase", phase, 1, PHASES);
    requireRange(WireRefusal.BAD_FIELD, "index", index, 0, world - 1);
    requireRange(WireRefusal.BAD_FIELD, "chunk", chunk, 0, Integer.MAX_VALUE);
    requireRange(WireRefusal.BAD_LENGTH, "length", length, 1, chunkBytes);
    if (dtype == null || length % dtype.bytes() != 0) {
      throw new RefusedBytes(WireRefusal.BAD_FIELD, "length=%d of dtype=%s", length, dtype);
    }
  }

  private void control(long frameCall, long frameContract) throws RefusedBytes {
    requireZero("phase", phase);
    requireZero("dtype", dtype == null ? 0 : 1);
    requireZero("index", index);
    requireZero("chunk", chunk);
    switch (type) {
      case CALL -> {
        if (frameCall != call + 1) {
          throw refused(WireRefusal.OUT_OF_SEQUENCE, "call", frameCall, call + 1);
        }
        requireRange(
            WireRefusal.BAD_LENGTH,
            "length",
            length,
            CallMessage.FIXED_BYTES,
            CallMessage.MOST_BYTES);
        call = frameCall;
        contract = frameContract;
      }
      case ABORT -> {
        requireNoCall(frameCall, frameContract);
        requireRange(
            WireRefusal.BAD_LENGTH,
            "length",
            length,
            AbortMessage.FIXED_BYTES,
            AbortMessage.MOST_BYTES);
      }
      default -> {
        requireNoCall(frameCall, frameContract);
        requireRange(WireRefusal.BAD_LENGTH, "length", length, 0, 0);
        ended = type == FrameType.GOODBYE;
      }
    }
  }

  private static void requireNoCall(long frameCall, long frameContract) throws RefusedBytes {
    requireZero("call", frameCall);
    requireZero("contract", frameContract);
  }

  private static void requireZero(String what, long value) throws RefusedBytes {
    if (value != 0) {
      throw refused(WireRefusal.BAD_FIELD, what, value, 0);
    }
  }

  private static void requireRange(WireRefusal why, String what, int value, int low, int high)
      throws RefusedBytes {
    if (value < low || value > high) {
      throw new RefusedBytes(why, "%s=%d is not from %d to %d", what, value, low, high);
    }
  }

  private static RefusedBytes refused(WireRefusal why, String what, long value, long wanted) {
    return new RefusedBytes(why, "%s=%x != %x", what, value, wanted);
  }

  /**
   * What the last accepted frame is.
   *
   * @return its type
   */
  public FrameType type() {
    return type;
  }

  /**
   * What the elements of the last accepted DATA are.
   *
   * @return from 1 to {@link #PHASES}
   */
  public int phase() {
    return phase;
  }

  /**
   * The element type of the last accepted DATA.
   *
   * @return its type
   */
  public DType dtype() {
    return dtype;
  }

  /**
   * The rank index of the last accepted DATA.
   *
   * @return from 0, below the world
   */
  public int index() {
    return index;
  }

  /**
   * The stretch of the last accepted DATA.
   *
   * @return from 0
   */
  public int chunk() {
    return chunk;
  }

  /**
   * The payload of the last accepted frame.
   *
   * @return bytes, within the bound of its type
   */
  public int length() {
    return length;
  }

  /**
   * The last call whose header came.
   *
   * @return its number, 0 before the first
   */
  public long call() {
    return call;
  }

  /**
   * The hash of the last call's header, which its payload must have.
   *
   * @return 64 bits
   */
  public long contract() {
    return contract;
  }

  /**
   * How many slots the peer has given back.
   *
   * @return never more than DATA frames sent to it
   */
  public long released() {
    return released;
  }
}
