/** The largest replica count. Kubernetes stores it as an int32. */
export const MAX_REPLICAS = 2_147_483_647;

// These bounds of the forecast state are here because decisions and the state store share them, and the state store
// must not import decisions.

/** The pod-seconds of a forecast are added up in parts of 6 hours. */
export const PART_SECONDS = 21_600;

/** Number of parts in three days. */
export const PARTS = 12;

/** Maximum number of kept raises (see `Raise`): two for each of the 168 hours of a week. */
export const MOST_RAISES = 336;

/** Default limits of a response of a data source. Parsing 23 MiB blocks the event loop for 141 ms. */
export const ANSWER_DEFAULTS = { maxAnswerBytes: 16 * 1024 * 1024, maxSeries: 20_000 } as const;

/** Default of `scrapeIntervalSeconds` of a data source. */
export const DEFAULT_SCRAPE_INTERVAL_SECONDS = 30;

/**
 * Number of scrapes in the window of a rate. If the window had fewer, a failed scrape could leave the rate without a
 * value.
 */
export const SCRAPES_IN_WINDOW = 4;

/** Shortest window of a rate. In a shorter window, a rate follows single requests instead of the load. */
const LEAST_WINDOW_SECONDS = 20;

/** Returns the window for the rate of samples at this interval, both in seconds. */
export function windowOfInterval(intervalSeconds: number): number {
  return Math.max(LEAST_WINDOW_SECONDS, SCRAPES_IN_WINDOW * intervalSeconds);
}

/** After more than this number of sync periods without a decision, the charts show a gap. */
export const PERIODS_BEFORE_GAP = 2.5;
