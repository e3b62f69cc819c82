import type { ExitCode } from '../process/io.js';

/** The action of a command sets the exit code, since commander discards its return value. */
export interface Result {
  exitCode: ExitCode;
}
