// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs that run, one lesson a class: each says what it shows and what it prints. Transports and
 * engines may not be imported here: a job needs the public API only.
 */
package org.rankfold.examples;
