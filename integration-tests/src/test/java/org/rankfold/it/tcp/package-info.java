// SPDX-License-Identifier: Apache-2.0
/**
 * Groups over real sockets, as threads and as processes: bits, faults, strangers, copies. Spark may
 * not be imported here.
 */
package org.rankfold.it.tcp;
