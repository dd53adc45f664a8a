// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import org.apache.spark.SparkEnv;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.group.GroupConfig;
import org.rankfold.group.SharedMemoryGroups;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.sharedmemory.SharedSegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task's segment from its row until the group takes it or goes another way: then it is closed.
 * Without a segment the row says so, and {@code auto} takes another way.
 */
final class SegmentOffer implements AutoCloseable {
  /** A task that offers none. */
  static final String NONE = "";

  private static final Logger LOG = LoggerFactory.getLogger(SegmentOffer.class);

  /** The executor id that Spark gives a local master. */
  private static final String DRIVER = "driver";

  private final long freeBytes;
  private SharedSegment segment;

  private SegmentOffer(SharedSegment segment, long freeBytes) {
    this.segment = segment;
    this.freeBytes = freeBytes;
  }

  /** Nothing to offer. */
  static SegmentOffer none() {
    return new SegmentOffer(null, 0);
  }

  /** What the settings ask for; fails only when they demand shared memory. */
  static SegmentOffer of(RankTable table, int task, GroupConfig config, ConfigSource source) {
    boolean isDemanded = config.transport().equals("sharedmemory");
    boolean local = SparkEnv.get().executorId().equals(DRIVER);
    if (!isDemanded && (local || !config.transport().equals("auto"))) {
      return none();
    }
    try {
      long freeBytes = SharedSegment.availableBytes(ConfigKeys.SHARED_MEMORY_DIR.of(source));
      return new SegmentOffer(SharedMemoryGroups.prepare(table, task, source), freeBytes);
    } catch (CollectiveException e) {
      if (isDemanded) {
        throw e;
      }
      LOG.info("this task offers no shared memory: {}", e.getMessage());
      return none();
    }
  }

  /** What peers need to find the segment, or {@link #NONE}. */
  String row() {
    return segment == null ? NONE : segment.row();
  }

  /** What the folder has room for. */
  long freeBytes() {
    return freeBytes;
  }

  /** The segment, owned by the caller from now on. */
  SharedSegment take() {
    SharedSegment taken = segment;
    segment = null;
    return taken;
  }

  @Override
  public void close() {
    if (segment != null) {
      take().close();
    }
  }
}
