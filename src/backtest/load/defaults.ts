import { instantFromMs } from '../../units/time.js';

/** A Monday, so schedules by weekday start at the beginning of a week. */
export const DEFAULT_START = instantFromMs(Date.UTC(2026, 0, 5));

/** Seconds from the creation of a pod until it is ready. */
export const DEFAULT_POD_START_SECONDS = 30;
