import type { Instant } from '../units/time.js';

/** The period from `start` (inclusive) to `end` (exclusive). */
export interface Occurrence {
  readonly start: Instant;
  readonly end: Instant;
}

/** Replica bounds for certain times. Valid and frozen. */
export interface Schedule {
  readonly name: string;
  /** Cron expressions of five fields; null: only `dates`. */
  readonly recurring: { readonly start: string; readonly end: string } | null;
  /** IANA name, such as `Europe/Warsaw`. */
  readonly timeZone: string;
  /** At least one of `minReplicas` and `maxReplicas` is set. Null: the bound of the document applies. */
  readonly minReplicas: number | null;
  readonly maxReplicas: number | null;
  /** Length of the ramp before a start and after an end, 0 to 86,400. */
  readonly rampSeconds: number;
  /** Local dates (`2026-12-25`) on which recurring starts do not apply. */
  readonly exceptions: readonly string[];
  readonly dates: readonly Occurrence[];
}
