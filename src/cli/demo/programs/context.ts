import type { Clock } from '../../../units/clock.js';

/** Environment variables of the process. PATH, HOME and XDG_CACHE_HOME are used; child processes get all of them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramContext {
  readonly env: Environment;
  readonly clock: Clock;
  /** Called with one sentence before a download. */
  readonly report?: ((line: string) => void) | undefined;
}

/** A program is not installed and cannot be downloaded. The message ends with the command that installs it. */
export class MissingProgramError extends Error {
  override name = 'MissingProgramError';
}
