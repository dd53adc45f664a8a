// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class SealedRecordTest {
  private static final byte[] HELLO = new byte[Hello.BYTES];
  private static final byte[] CHALLENGE = new byte[40];
  private static final byte[] TEXT = "the gradients of task 1".getBytes(StandardCharsets.UTF_8);

  private final RecordSealer sealer = keys("a secret of the group", CHALLENGE, true).sealer();
  private final RecordOpener opener = keys("a secret of the group", CHALLENGE, false).opener();

  private static SealKeys keys(String secret, byte[] challenge, boolean isDialer) {
    GroupSecret group = new GroupSecret("e", secret.getBytes(StandardCharsets.UTF_8));
    return SealKeys.of(group, HELLO, challenge, isDialer);
  }

  private byte[] sealed(byte[] plain) {
    ByteBuffer record = ByteBuffer.allocate(SealedRecord.MOST_BYTES);
    sealer.seal(ByteBuffer.wrap(plain), record);
    byte[] bytes = new byte[record.flip().remaining()];
    record.get(bytes);
    return bytes;
  }

  private static byte[] opened(RecordOpener opener, byte[] record) throws RefusedBytes {
    ByteBuffer bytes = ByteBuffer.wrap(record);
    int length = opener.length(bytes, 0);
    assertEquals(record.length, SealedRecord.HEADER_BYTES + length);
    ByteBuffer plain = ByteBuffer.allocate(SealedRecord.MOST_PLAIN_BYTES);
    opener.open(bytes, plain);
    return Arrays.copyOf(plain.array(), plain.position());
  }

  private static void assertRefused(WireRefusal refusal, RecordOpener opener, byte[] record) {
    RefusedBytes e = assertThrows(RefusedBytes.class, () -> opened(opener, record));
    assertEquals(refusal, e.refusal(), e.getMessage());
  }

  @Test
  void shouldGiveBackWhatWasSealedInOrder() throws RefusedBytes {
    byte[] large = new byte[SealedRecord.MOST_PLAIN_BYTES];
    Arrays.fill(large, (byte) 7);
    for (byte[] plain : new byte[][] {TEXT, large, {1}, TEXT}) {
      byte[] record = sealed(plain);
      assertTrue(record.length <= SealedRecord.MOST_BYTES);
      assertFalse(new String(record, StandardCharsets.ISO_8859_1).contains("gradients"));
      assertArrayEquals(plain, opened(opener, record));
    }
  }

  @Test
  void shouldRefuseARecordWithAnyBitFlipped() throws RefusedBytes {
    byte[] record = sealed(TEXT);
    for (int bit = 0; bit < record.length * Byte.SIZE; bit++) {
      byte[] changed = record.clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      int at = bit / Byte.SIZE;
      if (at < 4) {
        assertRefused(WireRefusal.BAD_MAGIC, opener, changed);
      } else if (at < 8) {
        // Another length: refused, or another record's bytes would be missing; never opened.
        ByteBuffer header = ByteBuffer.wrap(changed);
        try {
          int length = opener.length(header, 0);
          assertFalse(length == record.length - SealedRecord.HEADER_BYTES);
        } catch (RefusedBytes e) {
          assertEquals(WireRefusal.BAD_LENGTH, e.refusal());
        }
      } else if (at < SealedRecord.HEADER_BYTES) {
        assertRefused(WireRefusal.OUT_OF_SEQUENCE, opener, changed);
      } else {
        assertRefused(WireRefusal.BAD_SEAL, opener, changed);
      }
    }
    assertArrayEquals(TEXT, opened(opener, record));
  }

  @Test
  void shouldRefuseARecordWhoseLengthWasShortened() {
    byte[] record = sealed(TEXT);
    byte[] shorter = Arrays.copyOf(record, record.length - 1);
    shorter[4]--;
    assertRefused(WireRefusal.BAD_SEAL, opener, shorter);
  }

  @Test
  void shouldRefuseRecordsThatAreRepeatedLeftOutOrReordered() throws RefusedBytes {
    byte[] zero = sealed(TEXT);
    byte[] one = sealed(TEXT);
    assertRefused(WireRefusal.OUT_OF_SEQUENCE, opener, one);
    opened(opener, zero);
    assertRefused(WireRefusal.OUT_OF_SEQUENCE, opener, zero);
    byte[] renumbered = zero.clone();
    renumbered[8] = 1;
    assertRefused(WireRefusal.BAD_SEAL, opener, renumbered);
    opened(opener, one);
  }

  @Test
  void shouldRefuseAnotherSecretConnectionOrDirection() {
    byte[] record = sealed(TEXT);
    byte[] otherNonce = CHALLENGE.clone();
    otherNonce[39] = 1;
    assertRefused(
        WireRefusal.BAD_SEAL, keys("another secret, 16 bytes", CHALLENGE, false).opener(), record);
    assertRefused(
        WireRefusal.BAD_SEAL, keys("a secret of the group", otherNonce, false).opener(), record);
    assertRefused(
        WireRefusal.BAD_SEAL, keys("a secret of the group", CHALLENGE, true).opener(), record);
  }

  @Test
  void shouldDeriveKeysAsTheStandardSays() {
    // RFC 5869, A.1.
    HexFormat hex = HexFormat.of();
    byte[] key =
        Hkdf.extract(
            hex.parseHex("000102030405060708090a0b0c"),
            hex.parseHex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"));
    assertEquals(
        "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5", hex.formatHex(key));
    assertEquals(
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        hex.formatHex(Hkdf.expand(key, hex.parseHex("f0f1f2f3f4f5f6f7f8f9"), 42)));
  }

  @Test
  void shouldAgreeOnKeysInAHandshakeAndOnNoneWhenTermsAskForNone() throws RefusedBytes {
    GroupSecret secret =
        new GroupSecret("e", "a secret of the group".getBytes(StandardCharsets.UTF_8));
    for (boolean isSealed : new boolean[] {true, false}) {
      GroupTerms terms = new GroupTerms(4, 3, 1, 4096, isSealed);
      DialerHandshake dialer = new DialerHandshake(secret, terms, 2, 1, new byte[32]);
      byte[] nonce = new byte[32];
      nonce[0] = 9;
      AcceptorHandshake acceptor =
          new AcceptorHandshake(secret, terms, Hello.read(dialer.hello()), nonce);
      acceptor.onProof(dialer.onReply(acceptor.challenge()));
      dialer.onReply(AcceptorHandshake.verdict(null));
      if (isSealed) {
        ByteBuffer record = ByteBuffer.allocate(SealedRecord.MOST_BYTES);
        acceptor.sealKeys().sealer().seal(ByteBuffer.wrap(TEXT), record);
        byte[] bytes = Arrays.copyOf(record.array(), record.position());
        assertArrayEquals(TEXT, opened(dialer.sealKeys().opener(), bytes));
      } else {
        assertNull(dialer.sealKeys());
        assertNull(acceptor.sealKeys());
      }
    }
  }

  @Test
  void shouldRefuseADialerThatSealsOtherwise() throws RefusedBytes {
    GroupSecret secret =
        new GroupSecret("e", "a secret of the group".getBytes(StandardCharsets.UTF_8));
    DialerHandshake dialer =
        new DialerHandshake(secret, new GroupTerms(4, 3, 1, 4096, false), 2, 1, new byte[32]);
    byte[] nonce = new byte[32];
    nonce[0] = 9;
    AcceptorHandshake acceptor =
        new AcceptorHandshake(
            secret, new GroupTerms(4, 3, 1, 4096, true), Hello.read(dialer.hello()), nonce);
    byte[] proof = dialer.onReply(acceptor.challenge());
    RefusedBytes e = assertThrows(RefusedBytes.class, () -> acceptor.onProof(proof));
    assertEquals(WireRefusal.TERMS_DIFFER, e.refusal());
  }
}
