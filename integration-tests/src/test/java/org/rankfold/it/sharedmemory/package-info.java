// SPDX-License-Identifier: Apache-2.0
/**
 * Shared memory between real processes: bits, faults, what is left behind. Spark may not be
 * imported here.
 */
package org.rankfold.it.sharedmemory;
