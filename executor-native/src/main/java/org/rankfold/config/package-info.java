// SPDX-License-Identifier: Apache-2.0
/**
 * Settings, declared once with type, unit, default and doc, and concluded once into immutable
 * records. Spark may not be imported here; it comes in through ConfigSource.
 */
package org.rankfold.config;
