// SPDX-License-Identifier: Apache-2.0
/**
 * The only code that calls CUDA: probe, checks, devices, streams, events, memory, modules and the
 * run-time compiler. No type of JavaCPP appears in a public signature, and nothing that folds,
 * moves data between processes or knows Spark may be imported here.
 */
package org.rankfold.cuda;
