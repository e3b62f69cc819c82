import { countOf } from '../units/format.js';
import type { Instant } from '../units/time.js';
import type { LimitStep, PastDecision } from './result/decision.js';
import type { LimitName } from './result/limit-names.js';

/** A limit of a decision. In answers of the API, `until` is a string. */
interface Step extends Omit<LimitStep, 'until'> {
  readonly until: Instant | string | null;
}

interface Decided extends Pick<
  PastDecision,
  'currentReplicas' | 'desiredReplicas' | 'recommendedReplicas' | 'minReplicas' | 'maxReplicas'
> {
  readonly limits: readonly Step[];
  readonly cooldown?: { readonly cause: string } | undefined;
}

/** The change of a cycle. `kind` is the kind of the outcome; null: nothing has applied or prevented the decision. */
interface Change {
  readonly kind: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

export interface Headline {
  /**
   * Such as `scaled up from 4 to 8, not 42`, `stays at 4, not 8` or `scales down from 8 to 6`. The count after `not` is
   * the recommendation, clamped to the bounds unless a bound is the cause. If the change was prevented, it is the count
   * that the change would have set.
   */
  readonly change: string;
  /** The limits that determined the count; null: no limit changed it, or the change was prevented. */
  readonly limit: string | null;
}

/**
 * Returns the effect of a decision on the count, and the limits that caused it. The reason of the decision also
 * contains the values of the metrics and the other limits.
 */
export function headlineOf(decided: Decided, { kind, from, to }: Change): Headline {
  const { currentReplicas, desiredReplicas, recommendedReplicas, limits, cooldown } = decided;
  const before = from ?? currentReplicas;
  const after = to ?? desiredReplicas;
  const isDone = kind === 'patched' || kind === 'replaced';
  if (!isDone && kind !== null && before !== after)
    return { change: `stays at ${before}, not ${after}`, limit: null };
  if (cooldown !== undefined && before === after)
    return { change: `stays at ${after}, not 0`, limit: cooldown.cause };
  const last = limits.at(-1);
  // Limits that cancel each other have not changed the recommendation.
  const limit = last?.to === after && recommendedReplicas !== after ? last : undefined;
  // Example: the metrics recommend fewer pods, a limit keeps more, and the last limit lowers that count. The text then
  // names both limits.
  const cause = recommendedReplicas === null ? limit : lastTowards(after, recommendedReplicas, limits);
  const decisive = limit === undefined ? [] : [...new Set([cause ?? limit, limit])];
  const isDecided = limit !== undefined || after === desiredReplicas;
  const recommended = recommendedReplicas ?? limit?.from ?? null;
  const [first] = decisive;
  const isByBound = first?.limit === 'min_replicas' || first?.limit === 'max_replicas';
  const wanted = !isDecided
    ? desiredReplicas
    : recommended === null || isByBound
      ? recommended
      : Math.max(decided.minReplicas, Math.min(decided.maxReplicas, recommended));
  const change =
    before === after
      ? `stays at ${after}`
      : `${isDone ? 'scaled' : 'scales'} ${after > before ? 'up' : 'down'} from ${before} to ${after}`;
  const isOther = wanted !== null && wanted !== after && wanted !== before;
  return {
    change: isOther ? `${change}, not ${wanted}` : change,
    limit:
      decisive.length === 0
        ? null
        : decisive.map((step) => describeLimit(step, currentReplicas)).join(', and '),
  };
}

/**
 * Returns the last limit that moved the count in the direction from the recommendation to the result. This limit is the
 * cause of the result, even if a later limit has moved the count back in part.
 */
export function lastTowards<S extends Pick<LimitStep, 'from' | 'to'>>(
  result: number,
  recommended: number,
  limits: readonly S[],
): S | undefined {
  return limits.findLast(({ from, to }) => (result > recommended ? to > from : to < from));
}

/** Returns the text about a limit: its reason, except for `scale_up_limit`. */
export function describeLimit(
  { limit, to, reason }: Pick<Step, 'limit' | 'to' | 'reason'>,
  currentReplicas: number,
): string {
  if (limit !== 'scale_up_limit') return reason;
  const more = to > currentReplicas ? countOf(to - currentReplicas, 'more replica') : 'no more replicas';
  return `the scale-up limit allows ${more} at once`;
}

/**
 * Returns why the count is at a bound. The reason of the limit names the schedule. In a decision of another version of
 * promscaler, the limit may be missing because another limit led to the same count.
 */
export function boundBy(
  { recommendedReplicas, limits }: PastDecision,
  name: LimitName,
  otherwise: string,
): { readonly cause: string; readonly until: Instant | null } {
  const step = limits.findLast(({ limit }) => limit === name);
  return {
    cause: `${recommendedReplicas} recommended, ${step?.reason ?? otherwise}`,
    until: step?.until ?? null,
  };
}
