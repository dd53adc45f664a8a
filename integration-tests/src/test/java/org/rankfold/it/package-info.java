// SPDX-License-Identifier: Apache-2.0
/** Whole jobs, conformance, bits and rooms. Nothing of this module is shipped or imported. */
package org.rankfold.it;
