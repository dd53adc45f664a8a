// SPDX-License-Identifier: Apache-2.0
/**
 * What fixes the bits of a reduction: element type, operation, order and world. Nothing that moves
 * or stores data may be imported here.
 */
package org.rankfold.contract;
