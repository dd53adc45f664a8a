// SPDX-License-Identifier: Apache-2.0
/**
 * Whether this process and its ranks may go on: the process's poison, the watchdog over cancelled
 * tasks. Transports and engines may not be imported here.
 */
package org.rankfold.liveness;
