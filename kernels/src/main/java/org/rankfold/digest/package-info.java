// SPDX-License-Identifier: Apache-2.0
/**
 * What makes bits comparable: digests of raw bits, generated inputs, and the table of known
 * answers. Nothing that moves data between tasks may be imported here.
 */
package org.rankfold.digest;
