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

/** The change of a cycle. `kind` is that of its outcome; null: nothing has applied or prevented the decision. */
interface Change {
  readonly kind: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

export interface Headline {
  /**
   * Such as `scaled up from 4 to 8, not 42`, `stays at 4, not 8` or `scales down from 8 to 6`. The count after `not` is
   * the recommended one; within the bounds, unless a bound is the limit. If the change was prevented, it is the count
   * after that change.
   */
  readonly change: string;
  /** The limits that decided; null: no limit changed the count, or the change was prevented. */
  readonly limit: string | null;
}

/**
 * Returns what a decision does to the count, and why. A limit that is the cause of the state is in `limit`. The values
 * of the metrics and all limits, in order, are in the reason of the decision.
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
  // Example: the metrics recommend fewer pods, a limit keeps more of them, and the last limit lowers that count. Both
  // limits are then named.
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
 * Returns the last limit that moved the count in the direction from the recommendation to the result, which is the cause
 * of the result. A later limit may have moved the count back in part.
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
  return `the scale-up limit allows ${to > currentReplicas ? to - currentReplicas : 'no'} more at once`;
}

/**
 * Returns the cause for a count at a bound. The reason of its step names the schedule. A decision of another version
 * may lack the step, because another limit led to the same count.
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
