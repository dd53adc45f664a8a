// SPDX-License-Identifier: Apache-2.0
/**
 * Whether bin/rankfold composes the command it says, and how a command ends. No class of Rankfold
 * is needed here.
 */
package org.rankfold.it.launcher;
