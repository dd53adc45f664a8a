// SPDX-License-Identifier: Apache-2.0
/** Hosts on one machine: Linux network namespaces and what goes wrong between them. */
package org.rankfold.it.net;
