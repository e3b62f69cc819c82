/** Maximum of an int32, the type of replica counts in Kubernetes. */
export const MAX_REPLICAS = 2_147_483_647;

// Shared bounds for decisions and for the state store, which must not import decisions.

/** Pod-seconds of a forecast are summed in parts of 6 hours. */
export const PART_SECONDS = 21_600;

/** Parts of three days. */
export const PARTS = 12;

/** Two of each hour and weekday. */
export const MOST_RAISES = 336;

/** Default limits of a data source. Parsing 23 MiB blocks the event loop for 141 ms. */
export const ANSWER_DEFAULTS = { maxAnswerBytes: 16 * 1024 * 1024, maxSeries: 20_000 } as const;
/** A rate over a window with fewer scrapes has no value after one failed scrape. */
export const SCRAPES_IN_WINDOW = 4;

/** Rates over shorter windows follow single requests instead of the load. */
const LEAST_WINDOW_SECONDS = 20;

/** Returns the window of a rate over samples at this interval, both in seconds. */
export function windowOfInterval(intervalSeconds: number): number {
  return Math.max(LEAST_WINDOW_SECONDS, SCRAPES_IN_WINDOW * intervalSeconds);
}
