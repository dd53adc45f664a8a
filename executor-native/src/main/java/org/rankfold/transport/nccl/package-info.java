// SPDX-License-Identifier: Apache-2.0
/**
 * Device memory moved by NCCL, and the only code that calls it: loading, checks, communicators, the
 * exchange, and the unordered sum that comparisons need. No type of JavaCPP appears in a public
 * signature, and neither folds, engines, other transports nor Spark may be imported here.
 */
package org.rankfold.transport.nccl;
