import type { Pod } from '../../decision/snapshot/snapshot.js';
import { addSeconds, latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { countAt, type CountStep, visitCounts } from './count-steps.js';
import type { ShareModel } from './metric-model.js';
import type { ShareCurve } from './share-curve.js';

export interface ShareContext {
  readonly now: Instant;
  /** Time of the newest raw sample. */
  readonly measuredAt: Instant;
  readonly scrapeIntervalSeconds: number;
  readonly pods: readonly Pod[];
  /** The load that a ready pod has carried; null for a load that is a mean. */
  readonly shares: ShareCurve | null;
  readonly ready: readonly CountStep[];
}

/** Returns the value of each ready pod, in base units. Pods that are not ready carry nothing. */
export function shareValues(model: ShareModel, context: ShareContext): ReadonlyMap<string, number> {
  const { measuredAt, pods } = context;
  // A pod that was ready before the first sample of the window has a full value.
  const spanStart = addSeconds(measuredAt, -model.spanSeconds);
  const meanSince = meanOf(model, context);
  const values = new Map<string, number>();
  const known = new Map<Instant, number | null>();
  for (const pod of pods) {
    if (pod.ready !== true) continue;
    const since = latest(pod.readyChangedAt ?? spanStart, spanStart);
    let value = known.get(since);
    if (value === undefined) {
      value = since === spanStart ? meanSince(since) : youngValue(model, { ...context, since, meanSince });
      known.set(since, value);
    }
    if (value !== null) values.set(pod.name, value * model.unitsPerLoad);
  }
  return values;
}

/** `rate` extrapolates to half a scrape interval before the first sample. */
function youngValue(
  { isRate, windowSeconds, spanSeconds }: ShareModel,
  {
    since,
    measuredAt,
    scrapeIntervalSeconds,
    meanSince,
  }: Pick<ShareContext, 'measuredAt' | 'scrapeIntervalSeconds'> & {
    readonly since: Instant;
    readonly meanSince: (since: Instant) => number | null;
  },
): number | null {
  if (!isRate) return meanSince(since);
  const mean = meanSince(since);
  const extrapolated = spanSeconds < windowSeconds ? scrapeIntervalSeconds / 2 : 0;
  const seconds = Math.max(0, measuredAt - since) / 1000 + extrapolated;
  return mean === null ? null : mean * Math.min(1, seconds / windowSeconds);
}

/** Returns the mean share of a ready pod from a time until the newest sample; null: the load is unknown. */
function meanOf(
  { load, loadIs, saturation }: ShareModel,
  { now, measuredAt, shares, ready }: ShareContext,
): (since: Instant) => number | null {
  if (loadIs === 'present')
    return (since) =>
      shares?.mean(since < measuredAt ? since : addSeconds(measuredAt, -1), measuredAt) ?? null;
  const observed = load.at(now);
  const most = saturation ?? Infinity;
  const shareOf = (count: number): number => (count === 0 ? 0 : Math.min((observed ?? 0) / count, most));
  return (since) => {
    if (observed === null) return null;
    if (since >= measuredAt) return shareOf(countAt(ready, measuredAt));
    let area = 0;
    visitCounts(ready, { from: since, to: measuredAt }, (count, milliseconds) => {
      area += shareOf(count) * milliseconds;
    });
    return area / (measuredAt - since);
  };
}
