// SPDX-License-Identifier: Apache-2.0
/**
 * The fold on a device: its CUDA source, compiled for the device that is there, and kept. Knows no
 * ranks' addresses beyond bare pointers; nothing that moves data between processes may be imported
 * here.
 */
package org.rankfold.fold.cuda;
