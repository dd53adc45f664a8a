// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.rankfold.errors.CollectiveException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * What {@code bin/rankfold} runs: one job a subcommand. Exits with 0 when the job ended well, 1
 * when its results disagree, 2 when the command line makes no sense, 3 when the job failed; a
 * failure is one line on standard error with its code and first cause, with {@code --verbose} the
 * stack too.
 */
@Command(
    name = "rankfold",
    description = "Runs one of the examples on Spark.",
    synopsisSubcommandLabel = "JOB",
    mixinStandardHelpOptions = true,
    version = "rankfold 0.1.0-SNAPSHOT",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the job ended well",
      "1:results disagree",
      "2:the command line makes no sense",
      "3:the job failed"
    },
    subcommands = {
      DigitsCommand.class,
      FashionCommand.class,
      DigestCommand.class,
      SweepCommand.class,
      ExistingBarrierJob.class
    })
public final class RankfoldCommand implements Callable<Integer> {
  static final int OK = 0;
  static final int DISAGREE = 1;
  private static final int FAILED = 3;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack of a failure.")
  private boolean verbose;

  @Spec private CommandSpec spec;

  /** The command; options are set by the command line. */
  public RankfoldCommand() {}

  /**
   * Runs a job and ends the process with the job's exit code.
   *
   * @param args the job's name and options
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /**
   * The command line, which a test may execute without ending its process.
   *
   * @return a fresh one
   */
  public static CommandLine commandLine() {
    RankfoldCommand command = new RankfoldCommand();
    return new CommandLine(command)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (failure, commandLine, parsed) -> command.report(failure, commandLine.getErr()));
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Which job?");
  }

  private int report(Exception failure, PrintWriter err) {
    err.println("rankfold: " + line(failure));
    if (verbose) {
      failure.printStackTrace(err);
    }
    err.flush();
    return FAILED;
  }

  /** The failure's code and message, and what first caused it where that says more. */
  private static String line(Exception failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String text =
        failure instanceof CollectiveException known
            ? known.code() + ": " + known.getMessage()
            : failure.toString();
    String cause = root instanceof CollectiveException ? root.getMessage() : root.toString();
    String all = cause == null || text.contains(cause) ? text : text + "; first cause: " + cause;
    return all.replaceAll("\\s*\\R\\s*", " ");
  }
}
