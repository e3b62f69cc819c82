import type { ScalerDetail } from '../../api/answers.js';

type LimitName = ScalerDetail['limits'][number]['limit'];

/** Names of the limits as in the reference. */
export const LIMIT_NAMES: Readonly<Record<LimitName, string>> = {
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
