// SPDX-License-Identifier: Apache-2.0
/**
 * The public API: a communicator over logical ranks, blocking and asynchronous. Spark may not be
 * imported here.
 */
package org.rankfold.collective;
