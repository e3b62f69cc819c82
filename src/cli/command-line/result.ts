import type { ExitCode } from '../process/io.js';

/** Carries the exit code out of the action of a command, because commander discards its return value. */
export interface Result {
  exitCode: ExitCode;
}
