// SPDX-License-Identifier: Apache-2.0
package org.rankfold.managers;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.http.Buffer;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.nio.charset.StandardCharsets;

/**
 * The mock keeps what it is given; a real API server besides makes a new pod Pending, on which
 * Spark relies.
 */
final class ApiServer extends KubernetesCrudDispatcher {
  @Override
  public MockResponse handleCreate(RecordedRequest request) {
    return super.handleCreate(request.getPath().endsWith("/pods") ? pending(request) : request);
  }

  private static RecordedRequest pending(RecordedRequest request) {
    Pod pod =
        new PodBuilder(Serialization.unmarshal(request.getUtf8Body(), Pod.class))
            .withNewStatus()
            .withPhase("Pending")
            .endStatus()
            .build();
    return new RecordedRequest(
        request.getHttpVersion(),
        request.method(),
        request.getPath(),
        request.getHeaders(),
        new Buffer(Serialization.asJson(pod).getBytes(StandardCharsets.UTF_8)));
  }
}
