// SPDX-License-Identifier: Apache-2.0
package org.rankfold.errors;

/**
 * Why a call failed, as a number that is stable across versions and travels between processes.
 * Numbers are never reused; 1xx are usage, 2xx lose the group, 3xx the process.
 */
public enum ErrorCode {
  /** An argument is outside its defined range. */
  INVALID_ARGUMENT(100, ErrorCategory.USAGE),
  /** Ranks called with different contracts: dtype, op, order or world. */
  CONTRACT_MISMATCH(101, ErrorCategory.USAGE),
  /** Ranks called with different element counts. */
  COUNT_MISMATCH(102, ErrorCategory.USAGE),
  /** Ranks made different calls at the same call number. */
  CALL_MISMATCH(103, ErrorCategory.USAGE),
  /** Two views of one call share memory in a way that has no defined result. */
  ALIASED_VIEWS(104, ErrorCategory.USAGE),
  /** The operation is not defined for the element type. */
  UNDEFINED_OPERATION(105, ErrorCategory.USAGE),
  /** The world or the number of tasks is impossible. */
  INVALID_WORLD(106, ErrorCategory.USAGE),
  /** The thread flushes subnormal numbers to zero. */
  FLUSH_TO_ZERO(107, ErrorCategory.USAGE),
  /** The communicator, arena or group is closed. */
  CLOSED(108, ErrorCategory.USAGE),
  /** This build, platform or Spark mode cannot do what was asked. */
  UNSUPPORTED(109, ErrorCategory.USAGE),
  /** The cluster has too few slots for the group. */
  TOO_FEW_SLOTS(110, ErrorCategory.USAGE),
  /** The memory plan exceeds what the process may use. */
  TOO_LITTLE_MEMORY(111, ErrorCategory.USAGE),
  /** A communicator was used by two threads at once. */
  WRONG_THREAD(112, ErrorCategory.USAGE),
  /** A configuration value is malformed or contradicts another. */
  INVALID_CONFIG(113, ErrorCategory.USAGE),
  /** The data cannot be fed in a reproducible order. */
  UNORDERED_DATA(114, ErrorCategory.USAGE),
  /** A peer failed or left; its cause is attached or named. */
  PEER_FAILED(200, ErrorCategory.GROUP_LOST),
  /** A wait reached its deadline. */
  TIMEOUT(201, ErrorCategory.GROUP_LOST),
  /** The task was cancelled, killed or interrupted. */
  CANCELLED(202, ErrorCategory.GROUP_LOST),
  /** Bytes arrived that no correct peer sends. */
  PROTOCOL(203, ErrorCategory.GROUP_LOST),
  /** The group could not be formed. */
  BOOTSTRAP_FAILED(204, ErrorCategory.GROUP_LOST),
  /** A message belongs to another group. */
  STALE_GROUP(205, ErrorCategory.GROUP_LOST),
  /** Rankfold itself failed unexpectedly; the cause is attached. */
  INTERNAL(206, ErrorCategory.GROUP_LOST),
  /** A call of a device's library failed; the device itself is still usable. */
  DEVICE_CALL_FAILED(207, ErrorCategory.GROUP_LOST),
  /** A task's own code threw, or gave the group up; what it threw is attached or named. */
  USER_CODE_FAILED(208, ErrorCategory.GROUP_LOST),
  /** A peer did not leave this rank's memory in time. */
  MEMORY_STILL_BORROWED(300, ErrorCategory.PROCESS_FATAL),
  /** An earlier fatal error made this process refuse new groups. */
  PROCESS_POISONED(301, ErrorCategory.PROCESS_FATAL),
  /** A device failed in a way that makes every later call of this process to it fail. */
  DEVICE_LOST(302, ErrorCategory.PROCESS_FATAL);

  private final int number;
  private final ErrorCategory category;

  ErrorCode(int number, ErrorCategory category) {
    this.number = number;
    this.category = category;
  }

  /**
   * The stable number.
   *
   * @return the number that travels between processes
   */
  public int number() {
    return number;
  }

  /**
   * What to do about it.
   *
   * @return the category this code belongs to
   */
  public ErrorCategory category() {
    return category;
  }

  /**
   * The code of a number received from a peer.
   *
   * @param number a stable number
   * @return the code, or {@link #PROTOCOL} when this version does not know the number
   */
  public static ErrorCode ofNumber(int number) {
    for (ErrorCode code : values()) {
      if (code.number == number) {
        return code;
      }
    }
    return PROTOCOL;
  }
}
