import type { Clock } from '../units/clock.js';

/** Environment variables, as a process has them. Read are PATH, HOME and XDG_CACHE_HOME; children get all of them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What is needed to look for a part and to bring it. */
export interface PartsContext {
  readonly env: Environment;
  readonly clock: Clock;
  /** Told one sentence before something is fetched. */
  readonly report?: ((line: string) => void) | undefined;
}

/** A program is not there and could not be brought; the message ends with the line that installs it here. */
export class MissingPartError extends Error {
  override name = 'MissingPartError';
}
