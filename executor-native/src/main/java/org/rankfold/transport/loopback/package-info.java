// SPDX-License-Identifier: Apache-2.0
/**
 * All tasks in one JVM: pairs read each other's memory in place, or bytes travel through slots. No
 * other transport, no fold and no Spark may be imported here.
 */
package org.rankfold.transport.loopback;
