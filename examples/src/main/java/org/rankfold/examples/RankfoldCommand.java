// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;

/**
 * What bin/rankfold runs: a job by its name. Exit status 0 when the job did what it should, 1 when
 * results disagree, 2 for a wrong use, 3 when something failed; then one line says why, or with
 * {@code --verbose} all of it.
 */
@Command(
    name = "rankfold",
    description = "Bitwise-reproducible distributed training on Apache Spark.",
    subcommands = {
      DigitsCommand.class,
      FashionCommand.class,
      DigestCommand.class,
      ExistingBarrierJob.class,
      CommandLine.HelpCommand.class
    },
    mixinStandardHelpOptions = true,
    version = "rankfold 0.1.0-SNAPSHOT")
public final class RankfoldCommand {
  private static final int WRONG_USE = 2;
  private static final int FAILED = 3;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Show the whole error, not one line of it.")
  private boolean verbose;

  /** The command; options are set by the command line. */
  public RankfoldCommand() {}

  /**
   * Runs a job and ends the process with its status.
   *
   * @param args a job and its options
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    RankfoldCommand command = new RankfoldCommand();
    return new CommandLine(command)
        .setExecutionExceptionHandler((e, line, parsed) -> command.report(e, parsed));
  }

  private int report(Exception e, ParseResult parsed) {
    if (verbose) {
      e.printStackTrace();
    } else {
      String why = e.getMessage() == null ? e.toString() : e.getMessage();
      System.err.println("rankfold " + parsed.subcommand().commandSpec().name() + ": " + why);
    }
    return e instanceof CollectiveException known && known.category() == ErrorCategory.USAGE
        ? WRONG_USE
        : FAILED;
  }
}
