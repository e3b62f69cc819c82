import type { ExitCode } from '../io.js';

/** What a command leaves behind for the process. */
export interface Result {
  exitCode: ExitCode;
}
