// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.CallWords;
import org.rankfold.view.View;
import org.rankfold.wire.CallMessage;
import org.rankfold.wire.RefusedBytes;

/** The call records on a board: header, then the places of the views or copies of the addends. */
final class RecordArea {
  /** What a record gives its readers. */
  enum Reach {
    /** The header alone. */
    NONE(0),
    /** Where in the owner's segments the views lie. */
    SEGMENTS(1),
    /** The addends themselves. */
    RECORD(2);

    private final int code;

    Reach(int code) {
      this.code = code;
    }

    static Reach of(int code) {
      return switch (code) {
        case 1 -> SEGMENTS;
        case 2 -> RECORD;
        default -> NONE;
      };
    }
  }

  private static final int HEADER_BYTES = 4;
  private static final int INPUTS = 8;
  private static final int OUTPUTS = 12;

  private final BoardLayout layout;
  private final ByteBuffer bytes;

  RecordArea(Board board, BoardLayout layout) {
    this.layout = layout;
    this.bytes = board.bytes();
  }

  /** Whether a call's addends fit every task's record. */
  static boolean isCarried(CallHeader header, BoardLayout layout) {
    return header.kind() == CallKind.ALL_REDUCE
        && header.dtype() != null
        && header.count() <= BoardLayout.MOST_CARRIED
        && header.count() * header.dtype().bytes() * layout.table().rankCount(0)
            <= BoardLayout.MOST_CARRIED;
  }

  Reach write(CallRecord record, boolean isCarried, OwnSegments segments) {
    CallHeader header = record.header();
    int start = layout.record(header.number());
    CallMessage message = CallWords.message(header);
    message.put(bytes.slice(start + BoardLayout.RECORD_HEADER, message.byteCount()));
    Reach reach = Reach.NONE;
    if (header.refusal() == null) {
      if (isCarried) {
        writeAddends(start, record.inputs());
        reach = Reach.RECORD;
      } else if (writePlaces(start, record, segments)) {
        reach = Reach.SEGMENTS;
      }
    }
    bytes.putInt(start, reach.code);
    bytes.putInt(start + HEADER_BYTES, message.byteCount());
    bytes.putInt(start + INPUTS, record.inputs().size());
    bytes.putInt(start + OUTPUTS, record.outputs().size());
    return reach;
  }

  private void writeAddends(int start, List<View> addends) {
    int at = start + layout.carried();
    for (View addend : addends) {
      int byteCount = (int) addend.byteCount();
      addend.copyTo(View.of(bytes.slice(at, byteCount), addend.dtype()));
      at += byteCount;
    }
  }

  private boolean writePlaces(int start, CallRecord record, OwnSegments segments) {
    int entry = start + layout.views();
    for (List<View> views : List.of(record.inputs(), record.outputs())) {
      for (View view : views) {
        Place place = view.count() == 0 ? new Place(-1, 0) : segments.find(view);
        if (place == null) {
          return false;
        }
        bytes.putInt(entry, place.segment()).putInt(entry + 4, place.offset());
        bytes.putInt(entry + 8, (int) view.byteCount());
        entry += BoardLayout.VIEW_ENTRY;
      }
    }
    return true;
  }

  Reach reach(long call) {
    return Reach.of(bytes.getInt(layout.record(call)));
  }

  /** Reads a call's record; without the views that only mapped pairs may see unless wanted. */
  CallRecord read(long call, PeerSegments segments, boolean wantsPlaces) {
    int start = layout.record(call);
    CallHeader header = header(call, start);
    int inputs = bytes.getInt(start + INPUTS);
    int outputs = bytes.getInt(start + OUTPUTS);
    Reach reach = reach(call);
    if (reach == Reach.RECORD) {
      return new CallRecord(header, addends(start, header, inputs), List.of());
    }
    if (reach == Reach.NONE || !wantsPlaces) {
      return new CallRecord(header, List.of(), List.of());
    }
    int views = start + layout.views();
    DType dtype = header.dtype();
    return new CallRecord(
        header,
        new PlacedViews(bytes, views, inputs, dtype, segments),
        new PlacedViews(bytes, views + inputs * BoardLayout.VIEW_ENTRY, outputs, dtype, segments));
  }

  private CallHeader header(long call, int start) {
    int byteCount = bytes.getInt(start + HEADER_BYTES);
    try {
      return CallWords.header(
          call,
          CallMessage.read(
              bytes
                  .slice(start + BoardLayout.RECORD_HEADER, byteCount)
                  .order(ByteOrder.LITTLE_ENDIAN)));
    } catch (RefusedBytes e) {
      throw new CollectiveException(ErrorCode.PROTOCOL, "record of call #" + call + ": " + e, e);
    }
  }

  private List<View> addends(int start, CallHeader header, int count) {
    int from = start + layout.carried();
    int byteCount = (int) header.count() * header.dtype().bytes();
    List<View> addends = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      addends.add(View.of(bytes.slice(from + i * byteCount, byteCount), header.dtype()));
    }
    return addends;
  }
}
