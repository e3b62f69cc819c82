import type { PlainObject } from '../../scaler/plain-json.js';
import type { Fields } from '../manifest/fields.js';

/**
 * KEDA counts the failures of the queries of its HPA, which come every 15 s, and falls back after more than the
 * threshold. Source: pkg/fallback/fallback.go
 */
const SECONDS_PER_FAILURE = 15;
const LONGEST_SECONDS = 86_400;

interface Bounds {
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Reads `fallback`. A fallback to the current replicas is omitted, because promscaler does the same by default. */
export function readFallback(spec: Fields, { minReplicas, maxReplicas }: Bounds): PlainObject | undefined {
  const fallback = spec.object('fallback');
  if (fallback === undefined) return undefined;
  const { log, path } = fallback;
  const failures = fallback.integer('failureThreshold');
  const written = fallback.integer('replicas');
  const behavior = fallback.text('behavior') ?? 'static';
  fallback.rest();
  if (behavior === 'currentReplicas') return undefined;
  if (behavior === 'currentReplicasIfLower' || !['static', 'currentReplicasIfHigher'].includes(behavior)) {
    log.lose(
      [...path, 'behavior'],
      `is ${behavior}, which has no equivalent; the replicas are held while a metric is missing`,
    );
    return undefined;
  }
  if (failures === undefined || written === undefined) {
    log.lose(path, 'is incomplete: failureThreshold and replicas are required; it is not carried over');
    return undefined;
  }
  const replicas = Math.min(Math.max(written, minReplicas), maxReplicas);
  if (replicas !== written)
    log.lose(
      [...path, 'replicas'],
      `is ${written}, outside of ${minReplicas} to ${maxReplicas}; ${replicas} is used`,
    );
  log.note(path, NOTE);
  const afterSeconds = Math.min(Math.max(failures, 0) * SECONDS_PER_FAILURE, LONGEST_SECONDS);
  return { afterSeconds, replicas, mode: behavior === 'static' ? 'exact' : behavior };
}

const NOTE =
  'is counted in failures every 15 s. mode: exact may also scale down, as KEDA does; mode: atLeast would not.';
