// SPDX-License-Identifier: Apache-2.0
/**
 * What becomes of jobs in real processes when something is killed, stopped, interrupted or never
 * comes: who is told what, within which time, and what is left behind. Fakes may not be used here.
 */
package org.rankfold.it.faults;
