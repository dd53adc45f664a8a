// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.ByteBuffer;
import java.util.AbstractList;
import org.rankfold.contract.DType;
import org.rankfold.view.View;

/**
 * The views a peer lends in a call. A segment is mapped when a view of it is first asked for, which
 * is after all headers have agreed: until then the peer may withdraw and close its files.
 */
final class PlacedViews extends AbstractList<View> {
  private final ByteBuffer record;
  private final int start;
  private final DType dtype;
  private final PeerSegments segments;
  private final View[] views;

  PlacedViews(ByteBuffer record, int start, int count, DType dtype, PeerSegments segments) {
    this.record = record;
    this.start = start;
    this.dtype = dtype;
    this.segments = segments;
    this.views = new View[count];
  }

  @Override
  public View get(int index) {
    if (views[index] == null) {
      int entry = start + index * BoardLayout.VIEW_ENTRY;
      int byteCount = record.getInt(entry + 8);
      Place place = new Place(record.getInt(entry), record.getInt(entry + 4));
      views[index] =
          View.of(byteCount == 0 ? record.slice(0, 0) : segments.bytes(place, byteCount), dtype);
    }
    return views[index];
  }

  @Override
  public int size() {
    return views.length;
  }
}
