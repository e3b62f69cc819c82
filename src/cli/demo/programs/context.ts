import type { Clock } from '../../../units/clock.js';

/** Environment variables. promscaler reads PATH, HOME and XDG_CACHE_HOME; child processes inherit all. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramContext {
  readonly env: Environment;
  readonly clock: Clock;
  /** Called with a sentence before each download. */
  readonly report?: ((line: string) => void) | undefined;
}

/** A program is not installed and cannot be downloaded. The message ends with an install command. */
export class MissingProgramError extends Error {
  override name = 'MissingProgramError';
}
