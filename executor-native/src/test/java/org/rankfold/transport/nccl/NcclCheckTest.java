// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import org.bytedeco.cuda.global.nccl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;

class NcclCheckTest {
  @ParameterizedTest
  @CsvSource({
    nccl.ncclUnhandledCudaError + ", DEVICE_CALL_FAILED",
    nccl.ncclSystemError + ", PEER_FAILED",
    nccl.ncclInternalError + ", INTERNAL",
    nccl.ncclInvalidArgument + ", INTERNAL",
    nccl.ncclInvalidUsage + ", INTERNAL",
    nccl.ncclRemoteError + ", PEER_FAILED",
    nccl.ncclTimeout + ", PEER_FAILED",
    "77, INTERNAL"
  })
  void shouldSayWhoseFaultItWasWhenACallFails(int code, ErrorCode expected) {
    CollectiveException failure = NcclCheck.failure(code, "ncclSend", "the text", "the warning");
    assertThat(failure.code()).isEqualTo(expected);
    assertThat(failure.category()).isEqualTo(ErrorCategory.GROUP_LOST);
    assertThat(failure)
        .hasMessage("ncclSend returned " + code + " (the text); last warning: the warning");
  }

  @Test
  void shouldTellWhatHasBegunFromWhatIsDoneWhenNothingFailed() {
    assertThat(NcclCheck.isInProgress(nccl.ncclInProgress, "ncclGroupEnd")).isTrue();
    assertThat(NcclCheck.isInProgress(nccl.ncclSuccess, "ncclGroupEnd")).isFalse();
  }
}
