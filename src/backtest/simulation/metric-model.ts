import type { Load } from '../load/load.js';

/**
 * How a metric of the document follows the load.
 * `share`: the load is divided among the ready pods; each carries at most `saturation`.
 * `total`: the metric is the load, whatever the number of pods.
 * `constant`: a value per pod that the number of pods does not change.
 */
export type MetricModel =
  | {
      readonly kind: 'share';
      readonly load: Load;
      /** Load that one pod can carry; null: unlimited. Usage does not show the load above it. */
      readonly saturation: number | null;
      /** Multiplied with the share of a pod, it gives the value of the metric in base units. */
      readonly unitsPerLoad: number;
      /** The value is a mean over this time; 0: the present value. */
      readonly windowSeconds: number;
    }
  | { readonly kind: 'total'; readonly load: Load; readonly windowSeconds: number }
  | { readonly kind: 'constant'; readonly load: Load };
