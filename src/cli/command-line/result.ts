import type { ExitCode } from '../io.js';

/** Set by the action of a command, because commander discards its return value. */
export interface Result {
  exitCode: ExitCode;
}
