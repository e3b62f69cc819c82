import { instantFromMs, secondsBetween } from '../../units/time.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext } from './context.js';
import { judgeClockSkew } from './clock-skew.js';

/** The `Date` header has a resolution of 1 s. The second second allows for the response time. */
const SPREAD_SECONDS = 2;

/**
 * Compares the `Date` header of the API server with the local clock, because pod start times come from the API server.
 */
export function checkClusterClock({ serverDate }: ClusterContext): readonly CheckResult[] {
  const make = resultsOf('cluster-clock', CLUSTER_SUBJECT);
  const seen = serverDate();
  const ms = seen === null ? Number.NaN : Date.parse(seen.text);
  if (seen === null || Number.isNaN(ms)) return [make.skipped('the API server sends no valid Date header')];
  const aheadSeconds = secondsBetween(seen.at, instantFromMs(ms));
  return [judgeClockSkew(make, 'the API server', { aheadSeconds, spreadSeconds: SPREAD_SECONDS })];
}
