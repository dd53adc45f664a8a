// SPDX-License-Identifier: Apache-2.0
/** Breaks every rule of the rooms once, so that each is seen to fail. Nothing here runs. */
package org.rankfold.it.rooms.wrong;
