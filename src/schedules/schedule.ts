import type { Instant } from '../units/time.js';

/** The time from `start` (inclusive) to `end` (exclusive). */
export interface Occurrence {
  readonly start: Instant;
  readonly end: Instant;
}

/** Replica bounds for certain times. A schedule is valid and frozen. */
export interface Schedule {
  readonly name: string;
  /** Cron expressions with five fields; null: the schedule has only `dates`. */
  readonly recurring: { readonly start: string; readonly end: string } | null;
  /** The IANA name, such as `Europe/Warsaw`. */
  readonly timeZone: string;
  /** The bounds of the schedule; null: the bound of the document applies. At least one is set. */
  readonly minReplicas: number | null;
  readonly maxReplicas: number | null;
  /** The length of the ramps before the start and after the end, from 0 to 86,400. */
  readonly rampSeconds: number;
  /** Local dates (`2026-12-25`) on which the schedule does not start. */
  readonly exceptions: readonly string[];
  readonly dates: readonly Occurrence[];
}
