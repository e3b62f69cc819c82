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

/**
 * Prefix of the reason for `selectPolicy: Disabled`, followed by the path of the field. This limit does not end with
 * time.
 */
export const DISABLED = 'selectPolicy is Disabled in ';

/**
 * Returns the field of the document that allows no change in a direction, such as `behavior.scaleDown`; null: the limit
 * is not such a field.
 */
export function disabledField({
  limit,
  reason,
}: {
  readonly limit: string;
  readonly reason: string;
}): string | null {
  return limit === 'policy' && reason.startsWith(DISABLED) ? reason.slice(DISABLED.length) : null;
}

/** Returns in words when a limit without `until` ends. */
export function limitEnd(step: { readonly limit: LimitName; readonly reason: string }): string {
  const field = disabledField(step);
  return field === null ? LIMIT_ENDS[step.limit] : `until ${field} of the document has another selectPolicy`;
}

const LIMIT_ENDS: Readonly<Record<LimitName, string>> = {
  untrusted_metric: 'until every metric has a complete value',
  stabilization: 'until the recommendations that hold the count are older than the window',
  recovery_hold: 'until the metrics have had values for long enough',
  downscale_confirmation:
    'until the decisions that hold the count are older than downscaleConfirmation.seconds',
  policy: 'until the period of the policy allows more',
  scale_up_limit: 'for this change only: the next change starts from the new count',
  step_limit: 'until the highest count of the window is older than the window',
  min_replicas: 'while the document or a schedule has this bound',
  max_replicas_from: 'until the query of maxReplicasFrom returns more',
  max_replicas: 'while the document or a schedule has this bound',
  forbidden_window: 'until the forbidden window is over',
};
