// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class HandshakeTest {
  private static final GroupTerms TERMS = new GroupTerms(4, 3, 1, 4096, true);
  private static final GroupSecret SECRET =
      secret("app-1/2/0/nonce", "a secret of 16 bytes or more");

  @Test
  void shouldWelcomeAPeerThatKnowsTheSecret() throws RefusedBytes {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    Hello hello = Hello.read(dialer.hello());
    assertEquals(2, hello.from());
    assertEquals(1, hello.to());
    assertEquals(TERMS, hello.terms());
    assertEquals(SECRET.idHex(), hello.groupId());
    AcceptorHandshake acceptor = new AcceptorHandshake(SECRET, TERMS, hello, nonce(2));
    byte[] proof = dialer.onReply(acceptor.challenge());
    assertEquals(AcceptorHandshake.PROOF_BYTES, proof.length);
    acceptor.onProof(proof);
    assertNull(dialer.onReply(AcceptorHandshake.verdict(null)));
  }

  @Test
  void shouldRefuseAnAcceptorWithAnotherSecret() throws RefusedBytes {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    GroupSecret other = secret(SECRET.epoch(), "another secret, long enough");
    AcceptorHandshake acceptor =
        new AcceptorHandshake(other, TERMS, Hello.read(dialer.hello()), nonce(2));
    refuse(WireRefusal.WRONG_SECRET, () -> dialer.onReply(acceptor.challenge()));
  }

  @Test
  void shouldRefuseADialerWithAnotherSecret() throws RefusedBytes {
    GroupSecret other = secret(SECRET.epoch(), "another secret, long enough");
    DialerHandshake dialer = new DialerHandshake(other, TERMS, 2, 1, nonce(1));
    Hello hello = Hello.read(dialer.hello());
    AcceptorHandshake acceptor = new AcceptorHandshake(SECRET, TERMS, hello, nonce(2));
    AcceptorHandshake mirror = new AcceptorHandshake(other, TERMS, hello, nonce(2));
    byte[] proof = dialer.onReply(mirror.challenge());
    refuse(WireRefusal.WRONG_SECRET, () -> acceptor.onProof(proof));
  }

  @Test
  void shouldRefuseAProofThatWasUsedBefore() throws RefusedBytes {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    Hello hello = Hello.read(dialer.hello());
    byte[] proof =
        dialer.onReply(new AcceptorHandshake(SECRET, TERMS, hello, nonce(2)).challenge());
    AcceptorHandshake again = new AcceptorHandshake(SECRET, TERMS, hello, nonce(3));
    refuse(WireRefusal.WRONG_SECRET, () -> again.onProof(proof));
    NonceMemory greeted = new NonceMemory(2);
    assertTrue(greeted.add(hello.nonce()));
    assertFalse(greeted.add(hello.nonce()));
  }

  @Test
  void shouldRefuseItsOwnNonceAndItsOwnProofWhenReflected() throws RefusedBytes {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    Hello hello = Hello.read(dialer.hello());
    AcceptorHandshake sameNonce = new AcceptorHandshake(SECRET, TERMS, hello, nonce(1));
    refuse(WireRefusal.REFLECTION, () -> dialer.onReply(sameNonce.challenge()));
    AcceptorHandshake acceptor = new AcceptorHandshake(SECRET, TERMS, hello, nonce(2));
    byte[] challenge = acceptor.challenge();
    byte[] reflected = new byte[AcceptorHandshake.PROOF_BYTES];
    System.arraycopy(challenge, 0, reflected, 0, 5);
    reflected[5] = Handshake.PROOF;
    System.arraycopy(challenge, 40, reflected, 8, 32);
    refuse(WireRefusal.WRONG_SECRET, () -> acceptor.onProof(reflected));
  }

  @Test
  void shouldBindTheProofToTasksAndGroup() throws RefusedBytes {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    for (int offset : new int[] {8, 40, 44, 48, 52, 56, 60, 64}) {
      byte[] changed = dialer.hello();
      boolean isTask = offset == 40 || offset == 44;
      changed[offset] = isTask ? 0 : (byte) (changed[offset] ^ 0x40);
      Hello hello;
      try {
        hello = Hello.read(changed);
      } catch (RefusedBytes e) {
        continue;
      }
      AcceptorHandshake acceptor = new AcceptorHandshake(SECRET, TERMS, hello, nonce(2));
      refuse(WireRefusal.WRONG_SECRET, () -> dialer.onReply(acceptor.challenge()));
    }
  }

  @Test
  void shouldSayWhichTermsDifferWhenBothKnowTheSecret() throws RefusedBytes {
    GroupTerms other = new GroupTerms(4, 3, 1, 8192, true);
    DialerHandshake dialer = new DialerHandshake(SECRET, other, 2, 1, nonce(1));
    AcceptorHandshake acceptor =
        new AcceptorHandshake(SECRET, TERMS, Hello.read(dialer.hello()), nonce(2));
    byte[] proof = dialer.onReply(acceptor.challenge());
    RefusedBytes refused = refuse(WireRefusal.TERMS_DIFFER, () -> acceptor.onProof(proof));
    assertTrue(refused.getMessage().contains("8192"), refused.getMessage());
    assertTrue(refused.getMessage().contains("4096"), refused.getMessage());
  }

  @Test
  void shouldPassThePeersReasonOn() {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    for (WireRefusal refusal : WireRefusal.values()) {
      refuse(refusal, () -> dialer.onReply(AcceptorHandshake.verdict(refusal)));
    }
  }

  @Test
  void shouldNotTakeAWelcomeBeforeTheProof() {
    DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
    refuse(WireRefusal.BAD_FIELD, () -> dialer.onReply(AcceptorHandshake.verdict(null)));
  }

  @Test
  void shouldKeepTheSecretOutOfEveryText() {
    assertFalse(SECRET.toString().contains("secret of 16"));
    CollectiveException refused =
        assertThrows(CollectiveException.class, () -> secret("epoch", "short"));
    assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
    assertFalse(refused.getMessage().contains("short"));
  }

  @Test
  void shouldOnlyRefuseWhenMessagesAreRandomOrDamaged() throws RefusedBytes {
    long seed = Long.getLong("rankfold.seed", 20261202L);
    long endNs = System.nanoTime() + 1_000_000L * Integer.getInteger("rankfold.fuzz.ms", 10_000);
    Random random = new Random(seed);
    while (System.nanoTime() < endNs) {
      DialerHandshake dialer = new DialerHandshake(SECRET, TERMS, 2, 1, nonce(1));
      byte[] hello = damaged(random, dialer.hello());
      AcceptorHandshake acceptor;
      try {
        acceptor = new AcceptorHandshake(SECRET, TERMS, Hello.read(hello), nonce(2));
      } catch (RefusedBytes e) {
        assertNotNull(e.refusal());
        continue;
      }
      assertThrows(RefusedBytes.class, () -> dialer.onReply(damaged(random, acceptor.challenge())));
      byte[] proof = new byte[AcceptorHandshake.PROOF_BYTES];
      random.nextBytes(proof);
      assertThrows(RefusedBytes.class, () -> acceptor.onProof(proof), () -> "seed=" + seed);
    }
  }

  private static byte[] damaged(Random random, byte[] message) {
    byte[] damaged = message.clone();
    if (random.nextInt(8) == 0) {
      random.nextBytes(damaged);
    } else {
      // Not the padding behind a challenge, which says nothing.
      int bit = random.nextInt(8 * Math.min(damaged.length, Hello.BYTES));
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
    }
    return Arrays.equals(damaged, message) ? damaged(random, message) : damaged;
  }

  private interface Step {
    void run() throws RefusedBytes;
  }

  private static RefusedBytes refuse(WireRefusal why, Step step) {
    RefusedBytes refused = assertThrows(RefusedBytes.class, step::run);
    assertEquals(why, refused.refusal(), refused.getMessage());
    return refused;
  }

  private static GroupSecret secret(String epoch, String text) {
    return new GroupSecret(epoch, text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] nonce(int fill) {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    Arrays.fill(nonce, (byte) fill);
    return nonce;
  }
}
