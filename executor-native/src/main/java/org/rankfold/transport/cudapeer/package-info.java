// SPDX-License-Identifier: Apache-2.0
/**
 * Moves device memory between tasks of one process by copies on their streams, on one device or
 * between devices that reach each other. Nothing of other transports may be imported here, and
 * nothing that adds.
 */
package org.rankfold.transport.cudapeer;
