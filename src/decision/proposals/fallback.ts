import type { MetricSpec } from '../../scaler/spec.js';
import { addSeconds, formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import type { FallbackUse, MetricResult } from '../result/decision.js';
import type { Snapshot } from '../snapshot/snapshot.js';

export function failingKey({ type, identity }: MetricSpec): string {
  return `${type}/${identity}`;
}

/**
 * Applies the document's fallback to a metric that has had no proposal for `afterSeconds`. `atLeast` only raises to the
 * count, `exact` also lowers to it, `currentReplicasIfHigher` keeps a higher count. The time at 0 replicas does not
 * count: no fallback scales up from 0, unless `afterSeconds` is 0. Source: algorithm.md, step 3; the modes are the
 * fallback behaviors of KEDA.
 */
export function withFallback(spec: MetricSpec, result: MetricResult, snapshot: Snapshot): MetricResult {
  const { fallback } = snapshot.scaler.spec;
  if (fallback === null || result.proposal !== null || result.error === null) return result;
  const since = failingSince(spec, snapshot);
  if (secondsBetween(since, snapshot.now) < fallback.afterSeconds) return result;
  const { mode, replicas } = fallback;
  const proposal =
    mode === 'currentReplicasIfHigher' ? Math.max(replicas, snapshot.target.specReplicas) : replicas;
  const use: FallbackUse = { mode, replicas, since, error: result.error };
  return { ...result, proposal, error: null, ratio: null, fallback: use };
}

/** Returns when the fallback replaces a metric that has no proposal now; null: it does not, or does already. */
export function fallbackStart(spec: MetricSpec, result: MetricResult, snapshot: Snapshot): Instant | null {
  const { fallback } = snapshot.scaler.spec;
  if (fallback === null || result.proposal !== null || result.error === null) return null;
  if (snapshot.target.specReplicas === 0) return null;
  return addSeconds(failingSince(spec, snapshot), fallback.afterSeconds);
}

function failingSince(spec: MetricSpec, { state, target, now }: Snapshot): Instant {
  return (target.specReplicas === 0 ? undefined : state.failingSince.get(failingKey(spec))) ?? now;
}

export function describeFallback({ mode, replicas, since, error }: FallbackUse): string {
  return `no value since ${formatInstant(since)} (${error}): fallback ${mode} uses ${replicas} replicas`;
}
