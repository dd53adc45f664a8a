// SPDX-License-Identifier: Apache-2.0
/**
 * What can go wrong, said once: one unchecked exception, its categories, its stable codes. Nothing
 * else of Rankfold may be imported here.
 */
package org.rankfold.errors;
