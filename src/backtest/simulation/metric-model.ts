import type { Load } from '../load/load.js';

/** The load that a metric depends on, and the window of its query. */
interface Measured {
  readonly load: Load;
  /**
   * `present`: the load at each time, as in a trace; the window is applied. `mean`: the recorded result of the query,
   * which is a mean over the window before each time.
   */
  readonly loadIs: 'present' | 'mean';
  /** The window of the query; 0: an instant value. */
  readonly windowSeconds: number;
  /** The value is a mean over this time before the newest sample: the window, or a shorter time for a rate. */
  readonly spanSeconds: number;
}

/**
 * Returns the time between the first and the last sample of a window, over which `rate` is a mean. On average it is the
 * window minus one scrape interval. 0: the window rarely has two samples.
 */
export function spanOfRate(windowSeconds: number, scrapeIntervalSeconds: number): number {
  if (windowSeconds <= scrapeIntervalSeconds) return 0;
  return Math.max(windowSeconds - scrapeIntervalSeconds, scrapeIntervalSeconds);
}

/**
 * How a metric of the document follows the load.
 * `share`: the load is divided among the ready pods; each carries at most `saturation`.
 * `total`: the metric is the load, for any number of pods.
 * `constant`: a value per pod that does not depend on the number of pods.
 */
export type MetricModel = ShareModel | TotalModel | { readonly kind: 'constant'; readonly load: Load };

export interface TotalModel extends Measured {
  readonly kind: 'total';
}

export interface ShareModel extends Measured {
  readonly kind: 'share';
  /** The largest load of one pod; null: unlimited. Usage does not show load above it. */
  readonly saturation: number | null;
  /** Value of the metric in base units per unit of load. */
  readonly unitsPerLoad: number;
  /**
   * Whether the increase of a counter is divided by the whole window, even for a pod that is younger than the window.
   */
  readonly isRate: boolean;
}
