// SPDX-License-Identifier: Apache-2.0
/**
 * What every transport must do behind a communicator: one suite of results, one of misuse, one of
 * failures, run over each. Engines, transports' insides and Spark may not be imported here.
 */
package org.rankfold.it.collective;
