import type { ScalerSpec } from '../scaler/spec.js';
import { addSeconds, type Instant } from '../units/time.js';
import type { Activation } from './activation.js';
import { ceilingOf } from './limits/ceiling.js';
import { nextDownscaleProposals } from './limits/downscale-confirmation.js';
import { longestPeriodSeconds } from './limits/policy.js';
import type { JudgedMetric } from './proposals/propose.js';
import {
  type ForecastState,
  type Recommendation,
  type Snapshot,
  type State,
  metricKey,
} from './snapshot/snapshot.js';

/**
 * Returns the recommendations of earlier decisions. The first decision of a scaler has none. The current count is then
 * returned as a recommendation made now, so that nothing scales down during the first window. An empty list does not
 * mean that the decision is the first. Source: algorithm.md, point 26.
 */
export function seedRecommendations({ state, now, target }: Snapshot): readonly Recommendation[] {
  return state.recommendations ?? [{ at: now, replicas: target.specReplicas }];
}

export interface Outcome {
  readonly desired: number;
  /** The largest proposal; null: no recommendation was made. */
  readonly recommended: number | null;
  /** Null if the decision used no metric. */
  readonly metrics: readonly JudgedMetric[] | null;
  /** Null if activation does not apply. */
  readonly activation: Activation | null;
  /** Unset: the document has no forecast, or the decision used no metric. */
  readonly forecast?: ForecastState | undefined;
}

/** Returns the state for the next decision, provided that this decision is applied. Source: algorithm.md, step 7. */
export function buildNextState(snapshot: Snapshot, outcome: Outcome): State {
  const { now, state, scaler, target } = snapshot;
  const change = outcome.desired - target.specReplicas;
  const seeded = seedRecommendations(snapshot);
  const recommended = outcome.recommended === null ? null : { at: now, replicas: outcome.recommended };
  const event = change === 0 ? null : { at: now, change };
  const windowStart = addSeconds(now, -longestWindowSeconds(scaler.spec));
  const ceiling = ceilingOf(snapshot);
  const forecast = scaler.spec.forecast === null ? undefined : (outcome.forecast ?? state.forecast);
  const saturation = saturationAfter(state, outcome.metrics);
  const recommendations = recent(seeded, recommended, windowStart);
  const firstCountAt = state.recommendations === null && recommended === null ? now : state.firstCountAt;
  const next: State = {
    lastScaleUp: change > 0 ? now : state.lastScaleUp,
    lastScaleDown: change < 0 ? now : state.lastScaleDown,
    recommendations,
    scaleEvents: recent(state.scaleEvents, event, addSeconds(now, -longestPeriodSeconds(scaler.spec))),
    downscaleProposals: downscaleProposals(snapshot, outcome),
    holdScaleDownUntil: state.holdScaleDownUntil,
    holdReason: state.holdReason,
    failingSince: failingSince(snapshot, outcome.metrics),
    zeroedBySelf: zeroedBySelf(snapshot, outcome),
    inactiveSince:
      outcome.metrics === null ? state.inactiveSince : (outcome.activation?.inactiveSince ?? null),
    ...(ceiling === null ? {} : { maxReplicasFrom: ceiling.replicas }),
    ...(forecast === undefined ? {} : { forecast }),
    ...(saturation === undefined ? {} : { saturation }),
    ...(firstCountAt === undefined || recommendations[0]?.at !== firstCountAt ? {} : { firstCountAt }),
  };
  const { documentChangedAt } = state;
  const isUsed = documentChangedAt !== undefined && hasOlder(next, documentChangedAt);
  return isUsed ? { ...next, documentChangedAt } : next;
}

/**
 * Returns the saturation for the next decision. If this decision used no metric, `since` becomes null: usage may have
 * fallen below the limits meanwhile.
 */
function saturationAfter(
  { saturation }: State,
  metrics: readonly JudgedMetric[] | null,
): State['saturation'] {
  if (metrics === null) return saturation === undefined ? undefined : { ...saturation, since: null };
  return metrics.find((metric) => metric.saturation !== undefined)?.saturation;
}

/** Returns whether the next decision uses a result from before `time`. */
function hasOlder({ recommendations, downscaleProposals, inactiveSince }: State, time: Instant): boolean {
  const times = [recommendations?.[0]?.at, downscaleProposals[0]?.at, inactiveSince];
  return times.some((at) => at !== undefined && at !== null && at < time);
}

function downscaleProposals(
  { scaler, now, target, state }: Snapshot,
  { recommended }: Outcome,
): State['downscaleProposals'] {
  const { downscaleConfirmation } = scaler.spec;
  if (downscaleConfirmation === null || recommended === null) return NO_PROPOSALS;
  const asking = { now, current: target.specReplicas, recommended, state };
  return nextDownscaleProposals(asking, downscaleConfirmation);
}

const NO_PROPOSALS: State['downscaleProposals'] = [];

/** Returns whether promscaler set the target to 0. If the count was already 0, the previous state says who set it. */
function zeroedBySelf({ state, target }: Snapshot, { desired }: Outcome): boolean {
  return desired === 0 && (target.specReplicas > 0 || state.zeroedBySelf);
}

/**
 * Returns since when each metric without a value has failed. Empty at 0 replicas: metrics normally have no value
 * without pods, and a workload that scales up from 0 must not use its fallback immediately.
 */
function failingSince(
  { now, state, target }: Snapshot,
  metrics: readonly JudgedMetric[] | null,
): ReadonlyMap<string, Instant> {
  if (target.specReplicas === 0) return NONE_FAILING;
  if (metrics === null) return state.failingSince;
  const failing = metrics.filter(({ result }) => result.proposal === null || result.fallback !== undefined);
  if (failing.length === 0) return NONE_FAILING;
  return new Map(
    failing.map(({ spec }) => {
      const key = metricKey(spec);
      return [key, state.failingSince.get(key) ?? now];
    }),
  );
}

const NONE_FAILING: State['failingSince'] = new Map();

function longestWindowSeconds({ behavior, downscaleStabilizationSeconds }: ScalerSpec): number {
  if (behavior === null) return downscaleStabilizationSeconds;
  return Math.max(behavior.scaleUp.stabilizationWindowSeconds, behavior.scaleDown.stabilizationWindowSeconds);
}

/** Returns the entries since `start`, followed by `added` unless it is null. */
export function recent<T extends { readonly at: Instant }>(
  entries: readonly T[],
  added: T | null,
  start: Instant,
): readonly T[] {
  const kept = entries.every(({ at }) => at >= start) ? entries : entries.filter(({ at }) => at >= start);
  // `concat` returns a list without spare capacity. `push` would reserve memory, once for each scaler.
  return added === null ? kept : kept.concat(added);
}
