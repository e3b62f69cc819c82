import { instantFromMs, secondsBetween } from '../../../units/time.js';
import { type Finding, findingsOf } from '../finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry } from '../inquiry.js';
import { judgeClock } from './clock-apart.js';

/** A `Date` header has whole seconds, and the answer was on its way. */
const SPREAD_SECONDS = 2;

/** How far the clock of the API server is from ours, by the `Date` of its last answer: pods start by its clock. */
export function checkClusterClock({ serverDate }: ClusterInquiry): readonly Finding[] {
  const make = findingsOf('cluster-clock', CLUSTER_SUBJECT);
  const seen = serverDate();
  const ms = seen === null ? Number.NaN : Date.parse(seen.text);
  if (seen === null || Number.isNaN(ms)) return [make.skipped('its answers have no date')];
  const aheadSeconds = secondsBetween(seen.at, instantFromMs(ms));
  return [judgeClock(make, 'the API server', { aheadSeconds, spreadSeconds: SPREAD_SECONDS })];
}
