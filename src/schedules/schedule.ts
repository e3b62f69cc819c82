import type { Instant } from '../units/time.js';

/** From `start` on, until just before `end`. */
export interface Occurrence {
  readonly start: Instant;
  readonly end: Instant;
}

/** A floor and a ceiling for certain times. Frozen; its texts have been checked. */
export interface Schedule {
  readonly name: string;
  /** Cron expressions of five fields; null: `dates` only. */
  readonly recurring: { readonly start: string; readonly end: string } | null;
  /** IANA name. */
  readonly timeZone: string;
  /** At least one of the two is given; null: the document's own holds. */
  readonly minReplicas: number | null;
  readonly maxReplicas: number | null;
  /** How long before a start and after an end the bounds are on their way, 0 to 86,400. */
  readonly rampSeconds: number;
  /** Local dates (`2026-12-25`) on which no recurring start counts. */
  readonly exceptions: readonly string[];
  readonly dates: readonly Occurrence[];
}
