// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import java.util.Locale;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.errors.ErrorCode;

/**
 * What a task says about a call before any byte of it moves. All tasks must say the same, where
 * their memory lies and refusals apart: a refusal carries a task's own usage error to everybody.
 *
 * @param number the call's number in its group, from 1
 * @param kind which collective
 * @param contract what fixes the bits, or null when nothing is folded
 * @param dtype the element type, or null for a barrier
 * @param count elements of an addend, a row or the broadcast buffer; 0 for a barrier
 * @param root the root's logical rank of a broadcast, else 0
 * @param chunkBytes the stretch in which bytes move
 * @param memory where the memory that this task brings lies: {@link #ON_HOST} for some of it,
 *     {@link #ON_DEVICE} when all of it lies on a device, and from {@link #UNTOLD} on what peers
 *     that reach one another's devices know of it
 * @param refusal why this task refuses the call, or null
 * @param refusalText the refusal's message, or null
 */
public record CallHeader(
    long number,
    CallKind kind,
    ReduceContract contract,
    DType dtype,
    long count,
    int root,
    int chunkBytes,
    int memory,
    ErrorCode refusal,
    String refusalText) {
  /** Some memory lies on the host. */
  public static final int ON_HOST = 0;

  /** All memory lies on a device, and is not to be reached there. */
  public static final int ON_DEVICE = 1;

  /** Peers may reach it, once they are told where it lies. */
  public static final int UNTOLD = 2;

  /** Peers need not know where it lies. */
  public static final int NOT_NEEDED = 3;

  /** Peers were told where it lies: binding n is said as this number and n. */
  public static final int BOUND = 4;

  /** The root of a barrier that is its task's last call: it has let go of its peers' memory. */
  public static final int PARTING = -1;

  /**
   * Whether all memory this task brings lies on a device.
   *
   * @return false when some lies on the host
   */
  public boolean onDevice() {
    return memory != ON_HOST;
  }

  /**
   * Whether the task leaves its group with this call.
   *
   * @return true of a barrier that parts
   */
  public boolean isParting() {
    return kind == CallKind.BARRIER && root == PARTING;
  }

  /**
   * The call for messages.
   *
   * @return for example {@code all_reduce #18 (f32 x 1024, sum, RANK_LEFT)}
   */
  public String describe() {
    StringBuilder text = new StringBuilder(kind.label()).append(" #").append(number);
    if (dtype != null) {
      text.append(" (")
          .append(dtype.label())
          .append(" x ")
          .append(String.format(Locale.ROOT, "%,d", count));
      if (contract != null) {
        text.append(", ").append(contract.op().label()).append(", ").append(contract.order());
      }
      text.append(')');
    }
    return text.toString();
  }
}
