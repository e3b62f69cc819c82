import type { MetricSpec } from '../../scaler/spec.js';
import { describeFailure } from '../../units/failure.js';
import { addSeconds, formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import type { FallbackUse, MetricResult } from '../result/decision.js';
import { type Snapshot, metricKey } from '../snapshot/snapshot.js';

/**
 * Applies the document's fallback to a metric that has had no proposal for `afterSeconds`. `atLeast` only raises the
 * count to the fallback, `exact` also lowers it, and `currentReplicasIfHigher` keeps a higher count. The time at 0
 * replicas does not count, so that no fallback scales up from 0, unless `afterSeconds` is 0. Source: algorithm.md, step
 * 3; the modes are the fallback behaviors of KEDA.
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

/** Returns when the fallback will replace the missing proposal; null: never, or it already has. */
export function fallbackStart(spec: MetricSpec, result: MetricResult, snapshot: Snapshot): Instant | null {
  const { fallback } = snapshot.scaler.spec;
  if (fallback === null || result.proposal !== null || result.error === null) return null;
  if (snapshot.target.specReplicas === 0) return null;
  return addSeconds(failingSince(spec, snapshot), fallback.afterSeconds);
}

function failingSince(spec: MetricSpec, { state, target, now }: Snapshot): Instant {
  return (target.specReplicas === 0 ? undefined : state.failingSince.get(metricKey(spec))) ?? now;
}

export function describeFallback({ mode, replicas, since, error }: FallbackUse): string {
  return `no value since ${formatInstant(since)} (${describeFailure(error)}): fallback ${mode} uses ${replicas} replicas`;
}
