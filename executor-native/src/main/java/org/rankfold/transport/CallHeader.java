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
 * @param onDevice whether all memory this task brings lies on a device
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
    boolean onDevice,
    ErrorCode refusal,
    String refusalText) {
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
