// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import java.util.List;
import org.rankfold.view.View;

/**
 * A task's header and, for peers that map its memory, the views it lends until it has seen every
 * such peer leave the call. A record that {@link PairPath#CARRIED} pairs read holds inputs of its
 * own, and no outputs.
 *
 * @param header what the task says about the call
 * @param inputs what peers may read
 * @param outputs what peers may write
 */
public record CallRecord(CallHeader header, List<View> inputs, List<View> outputs) {}
