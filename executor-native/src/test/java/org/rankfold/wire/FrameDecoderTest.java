// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.ErrorCode;

class FrameDecoderTest {
  private static final long EPOCH = 0x1122334455667788L;
  private static final int CHUNK_BYTES = 4096;
  private static final int WORLD = 4;
  private static final long SENT = 5;
  private static final long HASH = 42;

  private final FrameDecoder decoder = new FrameDecoder(EPOCH, CHUNK_BYTES, WORLD);

  @Test
  void shouldLayFieldsOutAsSpecifiedWhenWritingData() {
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES);
    FrameHeader.putData(frame, EPOCH, 7, HASH, 2, DType.F64, 3, 9, 64, 4);
    byte[] expected = {
      'R',
      'K',
      'F',
      '1',
      1,
      2,
      2,
      2,
      (byte) 0x88,
      0x77,
      0x66,
      0x55,
      0x44,
      0x33,
      0x22,
      0x11,
      7,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      42,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      3,
      0,
      0,
      0,
      9,
      0,
      0,
      0,
      64,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      4,
      0,
      0,
      0,
      0,
      0,
      0,
      0
    };
    assertArrayEquals(expected, frame.array());
  }

  @Test
  void shouldReadBackWhatWasWritten() throws RefusedBytes {
    accept(call(1));
    ByteBuffer frame = data(1, HASH, 2, DType.F64, 3, 9, 64);
    accept(frame);
    assertEquals(FrameType.DATA, decoder.type());
    assertEquals(2, decoder.phase());
    assertEquals(DType.F64, decoder.dtype());
    assertEquals(3, decoder.index());
    assertEquals(9, decoder.chunk());
    assertEquals(64, decoder.length());
    assertEquals(1, decoder.call());
    assertEquals(HASH, decoder.contract());
  }

  @Test
  void shouldRefuseByNameWhenAFieldIsWrong() throws RefusedBytes {
    accept(call(1));
    refuse(WireRefusal.BAD_MAGIC, changed(FrameHeader.MAGIC_OFFSET, 'X'));
    refuse(WireRefusal.BAD_VERSION, changed(FrameHeader.VERSION_OFFSET, 2));
    refuse(WireRefusal.BAD_TYPE, changed(FrameHeader.TYPE_OFFSET, 0));
    refuse(WireRefusal.BAD_TYPE, changed(FrameHeader.TYPE_OFFSET, 6));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.PHASE_OFFSET, 0));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.PHASE_OFFSET, 4));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.DTYPE_OFFSET, 0));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.DTYPE_OFFSET, 7));
    refuse(WireRefusal.STALE_EPOCH, changed(FrameHeader.EPOCH_OFFSET, 0));
    refuse(WireRefusal.OUT_OF_SEQUENCE, changed(FrameHeader.CALL_OFFSET, 2));
    refuse(WireRefusal.CONTRACT_MISMATCH, changed(FrameHeader.CONTRACT_OFFSET, 1));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.INDEX_OFFSET, WORLD));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.INDEX_OFFSET + 3, 0x80));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.CHUNK_OFFSET + 3, 0x80));
    refuse(WireRefusal.BAD_LENGTH, changed(FrameHeader.LENGTH_OFFSET, 0));
    refuse(WireRefusal.BAD_LENGTH, changed(FrameHeader.LENGTH_OFFSET + 1, 17));
    refuse(WireRefusal.BAD_LENGTH, changed(FrameHeader.LENGTH_OFFSET + 3, 0x80));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.LENGTH_OFFSET, 63));
    refuse(WireRefusal.BAD_FIELD, changed(FrameHeader.ZERO_OFFSET, 1));
    refuse(WireRefusal.OUT_OF_SEQUENCE, changed(FrameHeader.RELEASED_OFFSET, (int) SENT + 1));
    refuse(WireRefusal.OUT_OF_SEQUENCE, changed(FrameHeader.RELEASED_OFFSET + 7, 0x80));
  }

  @Test
  void shouldRefuseDataBeforeTheFirstCall() {
    refuse(WireRefusal.OUT_OF_SEQUENCE, data(1, HASH, 1, DType.F32, 0, 0, 4));
    refuse(WireRefusal.OUT_OF_SEQUENCE, data(0, 0, 1, DType.F32, 0, 0, 4));
  }

  @Test
  void shouldRefuseACallThatSkipsANumberOrComesAgain() throws RefusedBytes {
    refuse(WireRefusal.OUT_OF_SEQUENCE, call(2));
    accept(call(1));
    refuse(WireRefusal.OUT_OF_SEQUENCE, call(1));
    accept(call(2));
  }

  @Test
  void shouldRefuseSlotsTakenBackAgain() throws RefusedBytes {
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES);
    FrameHeader.put(frame, FrameType.PULSE, EPOCH, 0, 3);
    accept(frame);
    assertEquals(3, decoder.released());
    ByteBuffer less = ByteBuffer.allocate(FrameHeader.BYTES);
    FrameHeader.put(less, FrameType.PULSE, EPOCH, 0, 2);
    refuse(WireRefusal.OUT_OF_SEQUENCE, less);
  }

  @Test
  void shouldRefuseEverythingAfterGoodbye() throws RefusedBytes {
    ByteBuffer goodbye = ByteBuffer.allocate(FrameHeader.BYTES);
    FrameHeader.put(goodbye, FrameType.GOODBYE, EPOCH, 0, 0);
    accept(goodbye);
    refuse(WireRefusal.BAD_TYPE, call(1));
  }

  @Test
  void shouldBoundEveryPayload() {
    for (FrameType type : FrameType.values()) {
      ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES);
      FrameHeader.put(frame, type, EPOCH, Integer.MAX_VALUE, 0);
      RefusedBytes refused =
          assertThrows(
              RefusedBytes.class,
              () -> new FrameDecoder(EPOCH, CHUNK_BYTES, WORLD).accept(frame, 0, 0));
      assertTrue(
          refused.refusal() == WireRefusal.BAD_LENGTH
              || refused.refusal() == WireRefusal.OUT_OF_SEQUENCE,
          refused.getMessage());
    }
  }

  @Test
  void shouldCarryEveryFieldOfACall() throws RefusedBytes {
    CallMessage refused =
        new CallMessage(
            4,
            new ReduceContract(DType.BF16, ReduceOp.MEAN, FoldOrder.RANK_TREE, 8),
            DType.BF16,
            1L << 40,
            -7,
            262144,
            1,
            ErrorCode.ALIASED_VIEWS,
            "addend 1 shares memory with addend 0 \u2713");
    CallMessage bare = new CallMessage(5, null, null, 0, 0, 8, 0, null, null);
    for (CallMessage message : new CallMessage[] {refused, bare}) {
      ByteBuffer bytes = ByteBuffer.allocate(message.byteCount());
      message.put(bytes);
      assertEquals(0, bytes.remaining());
      assertEquals(message, CallMessage.read(bytes.flip()));
    }
  }

  @Test
  void shouldHashWhatPeersMustAgreeOnAndNothingElse() {
    CallMessage first = new CallMessage(3, null, DType.F32, 10, 0, 64, 0, null, null);
    CallMessage refusing =
        new CallMessage(3, null, DType.F32, 10, 0, 64, 7, ErrorCode.CLOSED, "closed");
    CallMessage longer = new CallMessage(3, null, DType.F32, 11, 0, 64, 0, null, null);
    assertEquals(hash(first), hash(refusing));
    assertTrue(hash(first) != hash(longer));
  }

  @Test
  void shouldCutALongTextAtACharacter() throws RefusedBytes {
    String text = "\u20ac".repeat(5000);
    AbortMessage read =
        AbortMessage.read(ByteBuffer.wrap(new AbortMessage(ErrorCode.TIMEOUT, text).bytes()));
    assertEquals(ErrorCode.TIMEOUT, read.code());
    assertEquals("\u20ac".repeat(1365), read.text());
    CallMessage call = new CallMessage(5, null, null, 0, 0, 8, 0, ErrorCode.CLOSED, text);
    assertEquals(CallMessage.FIXED_BYTES + 3 * 1365, call.byteCount());
  }

  @Test
  void shouldOnlyAcceptOrRefuseWhenBytesAreRandomOrDamaged() {
    long seed = Long.getLong("rankfold.seed", 20261201L);
    long endNs = System.nanoTime() + 1_000_000L * Integer.getInteger("rankfold.fuzz.ms", 10_000);
    fuzz(seed, rounds -> System.nanoTime() < endNs);
  }

  @Test
  @Tag("nightly")
  void shouldOnlyAcceptOrRefuseTenMillionFrames() {
    fuzz(Long.getLong("rankfold.seed", 20261203L), rounds -> rounds < 10_000_000);
  }

  private static void fuzz(long seed, LongPredicate goesOn) {
    Random random = new Random(seed);
    long accepted = 0;
    long rounds = 0;
    while (goesOn.test(rounds)) {
      FrameDecoder fuzzed = new FrameDecoder(EPOCH, CHUNK_BYTES, WORLD);
      for (int frame = 0; frame < 20; frame++) {
        rounds++;
        ByteBuffer bytes = fuzzedFrame(random);
        try {
          fuzzed.accept(bytes, 0, SENT);
        } catch (RefusedBytes e) {
          break;
        }
        accepted++;
        int bound = fuzzed.type() == FrameType.DATA ? CHUNK_BYTES : CallMessage.MOST_BYTES;
        assertTrue(fuzzed.length() >= 0 && fuzzed.length() <= bound, () -> "seed=" + seed);
        readPayload(fuzzed, random);
      }
    }
    assertTrue(accepted > 1000 && rounds > accepted, "seed=" + seed + " accepted=" + accepted);
    System.out.println("seed=" + seed + ": " + rounds + " frames, " + accepted + " accepted");
  }

  private static void readPayload(FrameDecoder fuzzed, Random random) {
    byte[] payload = new byte[fuzzed.length()];
    random.nextBytes(payload);
    if (fuzzed.type() == FrameType.ABORT) {
      AbortMessage.read(ByteBuffer.wrap(payload));
    } else if (fuzzed.type() == FrameType.CALL) {
      for (int i = 0; i < CallMessage.FIXED_BYTES && random.nextInt(4) > 0; i++) {
        payload[i] = (byte) random.nextInt(3);
      }
      try {
        CallMessage read = CallMessage.read(ByteBuffer.wrap(payload));
        assertTrue(read.kind() >= 1 && read.kind() <= CallMessage.KINDS);
      } catch (RefusedBytes e) {
        assertTrue(e.refusal() != null);
      }
    }
  }

  private static ByteBuffer fuzzedFrame(Random random) {
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES);
    switch (random.nextInt(8)) {
      case 0 -> random.nextBytes(frame.array());
      case 1 -> FrameHeader.put(frame, FrameType.ABORT, EPOCH, random.nextInt(5000), 0);
      case 2 -> FrameHeader.put(frame, FrameType.PULSE, EPOCH, 0, random.nextInt(6));
      case 3, 4 ->
          FrameHeader.putCall(frame, EPOCH, 1 + random.nextInt(2), 0, random.nextInt(5000), 0);
      default ->
          FrameHeader.putData(frame, EPOCH, 1, 0, 1 + random.nextInt(3), DType.F32, 0, 0, 4, 0);
    }
    for (int flips = random.nextInt(3); flips > 0; flips--) {
      int bit = random.nextInt(8 * FrameHeader.BYTES);
      frame.put(bit / 8, (byte) (frame.get(bit / 8) ^ 1 << bit % 8));
    }
    return frame.clear();
  }

  private static long hash(CallMessage message) {
    ByteBuffer bytes = ByteBuffer.allocate(message.byteCount());
    message.put(bytes);
    return CallMessage.hash(bytes, 0);
  }

  private void accept(ByteBuffer frame) throws RefusedBytes {
    decoder.accept(frame, 0, SENT);
  }

  private void refuse(WireRefusal why, ByteBuffer frame) {
    RefusedBytes refused = assertThrows(RefusedBytes.class, () -> decoder.accept(frame, 0, SENT));
    assertEquals(why, refused.refusal(), refused.getMessage());
    assertNull(refused.getCause());
  }

  private static ByteBuffer call(long number) {
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES);
    FrameHeader.putCall(frame, EPOCH, number, HASH, CallMessage.FIXED_BYTES, 0);
    return frame;
  }

  private static ByteBuffer data(
      long call, long contract, int phase, DType dtype, int index, int chunk, int length) {
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES);
    FrameHeader.putData(frame, EPOCH, call, contract, phase, dtype, index, chunk, length, 0);
    return frame;
  }

  /** A good frame of data with one byte changed. */
  private static ByteBuffer changed(int offset, int value) {
    return data(1, HASH, 1, DType.F32, 0, 0, 64).put(offset, (byte) value);
  }
}
