// SPDX-License-Identifier: Apache-2.0
/**
 * Padded arenas that a transport may map. Nothing that moves or folds elements may be imported
 * here.
 */
package org.rankfold.memory;
