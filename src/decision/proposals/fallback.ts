import type { MetricSpec } from '../../scaler/spec.js';
import { formatInstant, secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { FallbackUse, MetricResult } from '../result/decision.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** The key of a metric in `failingSince`. */
export function failingKey({ type, identity }: MetricSpec): string {
  return `${type}/${identity}`;
}

/**
 * Returns the metric with the proposal of the document's fallback if it has had none for `afterSeconds`, else
 * unchanged. `atLeast` raises to the count and lowers nothing, `exact` does both, `currentReplicasIfHigher` keeps a
 * higher count. The time does not count at 0 replicas: no fallback scales up from 0, unless its `afterSeconds` is 0.
 * Source: algorithm.md, step 3; the modes are the fallback behaviors of KEDA.
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

function failingSince(spec: MetricSpec, { state, target, now }: Snapshot): Instant {
  return (target.specReplicas === 0 ? undefined : state.failingSince.get(failingKey(spec))) ?? now;
}

export function describeFallback({ mode, replicas, since, error }: FallbackUse): string {
  return `no value since ${formatInstant(since)} (${error}): ${replicas} replicas in its place by fallback ${mode}`;
}
