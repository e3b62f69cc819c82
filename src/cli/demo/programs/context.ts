import type { Clock } from '../../../units/clock.js';

/**
 * Environment variables. promscaler reads PATH, those of the cache directory and PROMSCALER_PROMETHEUS_MIRROR; child
 * processes inherit all.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramContext {
  readonly env: Environment;
  readonly clock: Clock;
  /** Aborts downloads. */
  readonly signal?: AbortSignal | undefined;
  /** Called with one sentence before a download, and when a source fails and another one is tried. */
  readonly report?: ((line: string) => void) | undefined;
  /** Called about twice a second during a download, and with '' at its end. Replaces the previous text. */
  readonly progress?: ((text: string) => void) | undefined;
}

/** A program is not installed and cannot be downloaded. The message ends with an install command. */
export class MissingProgramError extends Error {
  override name = 'MissingProgramError';
}
