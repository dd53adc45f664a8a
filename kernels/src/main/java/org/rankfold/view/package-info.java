// SPDX-License-Identifier: Apache-2.0
/**
 * A readable and writable stretch of elements wherever it lies: a heap array, direct memory, a
 * device. Views own nothing; nothing that allocates, folds or moves data between processes may be
 * imported here.
 */
package org.rankfold.view;
