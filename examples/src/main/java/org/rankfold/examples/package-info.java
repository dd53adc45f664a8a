// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs that run, with the data and the models they need, one lesson a class; each says what it
 * shows and what it prints. Everything below may be imported here, Spark included, and nothing
 * outside this module may ever import this package.
 */
package org.rankfold.examples;
