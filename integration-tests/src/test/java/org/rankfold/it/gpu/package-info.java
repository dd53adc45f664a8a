// SPDX-License-Identifier: Apache-2.0
/**
 * Whole collectives over device memory, on a machine with a GPU. Spark may not be imported here.
 */
package org.rankfold.it.gpu;
