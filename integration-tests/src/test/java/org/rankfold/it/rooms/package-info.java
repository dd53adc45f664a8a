// SPDX-License-Identifier: Apache-2.0
/** Holds the rooms: which package may import which. Looks at classes and runs none of them. */
package org.rankfold.it.rooms;
