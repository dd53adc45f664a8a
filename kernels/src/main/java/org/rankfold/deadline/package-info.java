// SPDX-License-Identifier: Apache-2.0
/**
 * When a wait must end: a point in time and a latch that trips once. Time is always an argument;
 * nothing here reads a clock, and nothing but errors may be imported.
 */
package org.rankfold.deadline;
