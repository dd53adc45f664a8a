// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.List;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.view.DeviceView;

/**
 * What tasks send each other for the fold of a shard on a device, chunk by chunk: addends, or sums
 * of some. Rounds come in order; what one round received or made is used up before the next but one
 * needs its room.
 */
interface ShardOperands {
  /** How many rounds have room of their own. */
  int SETS = 2;

  /** The scratch needed. */
  long scratchBytes();

  /** Hands over the scratch, before anything else. */
  void place(DeviceMemory scratch);

  /** Enqueues, on the folding stream, what makes the round's operands ready to be sent. */
  void prepare(int round);

  /** What leaves for a peer's chunk, in the order in which that peer expects it. */
  List<DeviceView> sent(int peer, int round);

  /** Where a peer's operands of the own chunk arrive, in the order in which it sends them. */
  List<DeviceView> received(int peer, int round);

  /** Enqueues the fold of the own chunk on the folding stream. */
  void fold(int round, DeviceView out);
}
