// SPDX-License-Identifier: Apache-2.0
/**
 * The mark of types that are not for users. Nothing else lives here and nothing of Rankfold may be
 * imported here.
 */
package org.rankfold;
