// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.engine.EngineSettings;
import org.rankfold.fold.Fold;
import org.rankfold.fold.Folds;
import org.rankfold.fold.cuda.PlacedFold;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.LoopbackOptions;
import org.rankfold.transport.loopback.PathRule;

/**
 * The settings of a group, concluded once.
 *
 * @param transport the transport's name, or {@code auto}
 * @param pathRule which pairs are mapped
 * @param deliveryOrder in which order staged addends arrive
 * @param foldName which fold adds
 * @param engine chunk and timeouts
 */
public record GroupConfig(
    String transport,
    PathRule pathRule,
    DeliveryOrder deliveryOrder,
    String foldName,
    EngineSettings engine) {
  /**
   * Concludes the settings.
   *
   * @param source what the user set
   * @return the settings
   * @throws org.rankfold.errors.CollectiveException INVALID_CONFIG naming key, text and what is
   *     wrong
   */
  public static GroupConfig of(ConfigSource source) {
    String path = ConfigKeys.PATH.of(source);
    PathRule rule =
        switch (path) {
          case "staged" -> PathRule.STAGED;
          case "mixed" -> PathRule.MIXED;
          default -> PathRule.MAPPED;
        };
    return new GroupConfig(
        ConfigKeys.TRANSPORT.of(source),
        rule,
        DeliveryOrder.parse(ConfigKeys.DELIVERY.of(source)),
        ConfigKeys.FOLD.of(source),
        new EngineSettings(
            ConfigKeys.CHUNK_BYTES.of(source),
            ConfigKeys.COLLECTIVE_TIMEOUT.of(source),
            ConfigKeys.EXIT_TIMEOUT.of(source)));
  }

  /**
   * The fold the settings name, on the host; device memory is folded where it lies.
   *
   * @return a fold
   */
  public Fold fold() {
    return new PlacedFold(foldName.equals("auto") ? Folds.fastest() : Folds.named(foldName));
  }

  /**
   * The loopback transport's part of the settings.
   *
   * @param fault what goes wrong on purpose
   * @return the options
   */
  public LoopbackOptions loopback(DeliveryFault fault) {
    return new LoopbackOptions(pathRule, deliveryOrder, engine.chunkBytes(), fault);
  }
}
