// SPDX-License-Identifier: Apache-2.0
/**
 * Seeded faults on groups of real processes: each pair's connection passes a gate that reads frames
 * and strikes at one of them. Knows the wire's published layout; imports no transport and no
 * engine.
 */
package org.rankfold.it.plans;
