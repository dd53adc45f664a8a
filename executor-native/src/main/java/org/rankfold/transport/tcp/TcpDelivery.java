// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.nio.ByteBuffer;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.View;

/** Elements that came, in a slot or at their place. */
final class TcpDelivery implements Delivery {
  private final TcpTransport transport;
  private final Connection connection;
  private final DeliveryTag tag;
  private final View view;
  private final ByteBuffer slot;
  private boolean released;

  TcpDelivery(
      TcpTransport transport, Connection connection, DeliveryTag tag, View view, ByteBuffer slot) {
    this.transport = transport;
    this.connection = connection;
    this.tag = tag;
    this.view = view;
    this.slot = slot;
  }

  @Override
  public int sender() {
    return connection.peer();
  }

  @Override
  public DeliveryTag tag() {
    return tag;
  }

  @Override
  public View view() {
    return view;
  }

  @Override
  public void release() {
    if (!released) {
      released = true;
      transport.release(connection, slot);
    }
  }
}
