// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.view.DeviceView;

/**
 * One launch's arguments, as {@code struct Args} of mlp.cu lays them out: a layer and the rows that
 * pass it.
 *
 * @param input rows x in
 * @param parameters the layer's weights and biases
 * @param output rows x out
 * @param below rows x in, or null where nothing is passed down
 * @param gradient as the parameters lie, or null where nothing is added
 * @param rows at least 1
 * @param in units below
 * @param out units above
 * @param rectify whether ReLU follows the sums
 */
record MlpLaunch(
    DeviceView input,
    DeviceView parameters,
    DeviceView output,
    DeviceView below,
    DeviceView gradient,
    int rows,
    int in,
    int out,
    boolean rectify) {
  static final int BYTES = 56;

  byte[] toBytes() {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
    for (DeviceView view : new DeviceView[] {input, parameters, output, below, gradient}) {
      bytes.putLong(view == null ? 0 : view.address());
    }
    return bytes.putInt(rows).putInt(in).putInt(out).putInt(rectify ? 1 : 0).array();
  }
}
