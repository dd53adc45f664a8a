// SPDX-License-Identifier: Apache-2.0
/**
 * Frames, call headers and the authenticating handshake as bytes, as docs/spec/wire.md says.
 * Sockets, threads, clocks and transports may not be imported here.
 */
package org.rankfold.wire;
