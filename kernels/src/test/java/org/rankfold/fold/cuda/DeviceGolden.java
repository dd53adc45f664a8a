// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Fold;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/** Runs a fold over the golden table with all views on a device. */
public final class DeviceGolden {
  private DeviceGolden() {}

  /** The rows whose digest the fold does not reach, described. */
  static List<String> wrongRows(CudaDevice device, Fold fold, Gpu.Placement placement) {
    return wrongRows(device, fold, placement, row -> true);
  }

  /** The same of some rows only. */
  static List<String> wrongRows(
      CudaDevice device, Fold fold, Gpu.Placement placement, Predicate<GoldenRow> some) {
    List<String> wrong = new ArrayList<>();
    for (GoldenRow row : GoldenTable.builtIn().stream().filter(some).toList()) {
      DType dtype = row.contract().dtype();
      int world = row.contract().world();
      View host = host(dtype, row.n());
      try (DeviceMemory room = Gpu.room(device, dtype, row.n(), world + 1)) {
        DeviceView[] addends = new DeviceView[world];
        for (int r = 0; r < world; r++) {
          addends[r] = Gpu.view(room, placement, dtype, row.n(), r);
          OracleInputs.fill(host, row.kind(), row.seed(), r, 0);
          host.copyTo(addends[r]);
        }
        DeviceView out = Gpu.view(room, placement, dtype, row.n(), world);
        fold.fold(row.contract(), addends, new View[] {out});
        if (!BitDigest.of(out).equals(row.sha256())) {
          wrong.add(row.describe());
        }
      }
    }
    return wrong;
  }

  /** Host memory of that many elements. */
  public static View host(DType dtype, long count) {
    return View.of(ByteBuffer.allocateDirect((int) count * dtype.bytes()), dtype);
  }
}
