// SPDX-License-Identifier: Apache-2.0
/**
 * The bits of whole collectives against the oracle's table and against the obvious fold. Spark may
 * not be imported here.
 */
package org.rankfold.it.bits;
