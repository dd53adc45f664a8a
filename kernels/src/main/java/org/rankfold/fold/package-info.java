// SPDX-License-Identifier: Apache-2.0
/**
 * Folds: L views in rank order become one result. Folds know no ranks' addresses, threads or
 * sockets; nothing that moves bytes may be imported here.
 */
package org.rankfold.fold;
