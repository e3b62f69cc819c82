import type { Load } from '../load/load.js';

/** The load that a metric depends on, and the window of its query. */
interface Measured {
  readonly load: Load;
  /**
   * `present`: the load at each time, as in a trace; the window is applied. `mean`: what the query returned at each
   * time, a mean over the window before it.
   */
  readonly loadIs: 'present' | 'mean';
  /** The window of the query; 0: the present value. */
  readonly windowSeconds: number;
  /** The value is a mean over this time before the newest sample: the window, or less for a rate. */
  readonly spanSeconds: number;
}

/**
 * Returns the time between the first and the last sample of a window, which `rate` is the mean over: on average, the
 * window minus one scrape interval. 0: the window rarely has two samples.
 */
export function spanOfRate(windowSeconds: number, scrapeIntervalSeconds: number): number {
  if (windowSeconds <= scrapeIntervalSeconds) return 0;
  return Math.max(windowSeconds - scrapeIntervalSeconds, scrapeIntervalSeconds);
}

/**
 * How a metric of the document follows the load.
 * `share`: the load is divided among the ready pods; each carries at most `saturation`.
 * `total`: the metric is the load, whatever the number of pods.
 * `constant`: a value per pod that the number of pods does not change.
 */
export type MetricModel = ShareModel | TotalModel | { readonly kind: 'constant'; readonly load: Load };

export interface TotalModel extends Measured {
  readonly kind: 'total';
}

export interface ShareModel extends Measured {
  readonly kind: 'share';
  /** Load that one pod can carry; null: unlimited. Usage does not show the load above it. */
  readonly saturation: number | null;
  /** Multiplied with the share of a pod, it gives the value of the metric in base units. */
  readonly unitsPerLoad: number;
  /** The increase of a counter is divided by the whole window, also for a pod that is younger. */
  readonly isRate: boolean;
}
