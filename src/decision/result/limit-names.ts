/**
 * The limits of algorithm.md, step 6, in the order in which they are applied. `untrusted_metric` comes first, because
 * it ends a decision at step 4.
 */
export const LIMIT_NAMES = [
  'untrusted_metric',
  'stabilization',
  'recovery_hold',
  'downscale_confirmation',
  'policy',
  'scale_up_limit',
  'step_limit',
  'min_replicas',
  'max_replicas_from',
  'max_replicas',
  'forbidden_window',
] as const;

export type LimitName = (typeof LIMIT_NAMES)[number];

/** The names that the dashboard and the reference show. */
export const LIMIT_LABELS: Readonly<Record<LimitName, string>> = {
  untrusted_metric: 'Incomplete metric',
  stabilization: 'Stabilization',
  recovery_hold: 'Recovery hold',
  downscale_confirmation: 'Scale-down confirmation',
  policy: 'Scaling policy',
  scale_up_limit: 'Scale-up limit',
  step_limit: 'Step limit',
  min_replicas: 'Minimum replicas',
  max_replicas_from: 'Ceiling',
  max_replicas: 'Maximum replicas',
  forbidden_window: 'Forbidden window',
};

/** When a limit ends for which no time is known (`until` null). */
export const LIMIT_ENDS: Readonly<Record<LimitName, string>> = {
  untrusted_metric: 'until every metric has a complete value',
  stabilization: 'until these recommendations have left the window',
  recovery_hold: 'until the metrics have had values for long enough',
  downscale_confirmation: 'until these decisions have left the window',
  policy: 'until its period allows more',
  scale_up_limit: 'for this step: the next one starts from the new count',
  step_limit: 'for this step: the next one starts from the new count',
  min_replicas: 'a bound of the document',
  max_replicas_from: 'until the query of maxReplicasFrom returns more',
  max_replicas: 'a bound of the document',
  forbidden_window: 'until the window is over',
};
