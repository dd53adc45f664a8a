// SPDX-License-Identifier: Apache-2.0
/**
 * Cluster managers other than Spark's own: its Kubernetes backend against a mock API server whose
 * pods a small kubelet runs as processes, and YARN's mini cluster. Nothing of the engine's insides
 * may be imported here.
 */
package org.rankfold.managers;
