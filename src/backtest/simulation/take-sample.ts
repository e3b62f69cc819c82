import { errorSample } from '../../decision/samples/sample-rules.js';
import type { Pod, Sample } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec } from '../../scaler/spec.js';
import { addSeconds, latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { MetricModel } from './metric-model.js';
import type { ShareCurve } from './share-curve.js';

interface SampleContext {
  readonly now: Instant;
  readonly pods: readonly Pod[];
  /** What a ready pod has carried, for a metric of kind `share`. */
  readonly shares: ShareCurve | null;
  readonly scrapeIntervalSeconds: number;
}

const NO_DATA = 'the history has no value here';

/**
 * Returns what the query of a metric would have answered. The newest raw sample is half a scrape interval old, as it is
 * on average.
 */
export function takeSample(metric: MetricSpec, model: MetricModel, context: SampleContext): Sample {
  const measuredAt = addSeconds(context.now, -context.scrapeIntervalSeconds / 2);
  if (metric.type === 'Object' || metric.type === 'External') {
    const value = totalOf(model, measuredAt);
    return value === null
      ? errorSample('missing', NO_DATA)
      : { form: 'values', at: context.now, values: [value], partial: null };
  }
  const values = valuesByPod(model, measuredAt, context);
  if (values.size === 0) return errorSample('missing', NO_DATA);
  const windowSeconds = model.kind === 'constant' ? 0 : model.windowSeconds;
  if (metric.type === 'Pods')
    return { form: 'pods', at: context.now, windowSeconds, pods: values, partial: null };
  const container = metric.type === 'ContainerResource' ? metric.container : CONTAINER;
  return {
    form: 'containers',
    at: addSeconds(context.now, -context.scrapeIntervalSeconds),
    windowSeconds,
    containers: byContainer(values, container),
    partial: null,
  };
}

/** The container of the simulated pods, unless a metric names another. */
export const CONTAINER = 'app';

function totalOf(model: MetricModel, measuredAt: Instant): number | null {
  const windowSeconds = model.kind === 'constant' ? 0 : model.windowSeconds;
  return model.load.mean(addSeconds(measuredAt, -windowSeconds), measuredAt);
}

/** Pods that are not ready carry nothing. */
function valuesByPod(
  model: MetricModel,
  measuredAt: Instant,
  { pods, shares }: SampleContext,
): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  if (model.kind !== 'share' || shares === null) {
    const value = model.load.at(measuredAt);
    if (value !== null) for (const { name } of pods) values.set(name, value);
    return values;
  }
  const windowStart = addSeconds(measuredAt, -model.windowSeconds);
  const whole = valueBetween(model, shares, windowStart, measuredAt);
  for (const pod of pods) {
    if (pod.ready !== true) continue;
    const since = pod.readyChangedAt ?? windowStart;
    const value =
      since <= windowStart ? whole : valueBetween(model, shares, latest(since, windowStart), measuredAt);
    if (value !== null) values.set(pod.name, value);
  }
  return values;
}

function valueBetween(
  model: Extract<MetricModel, { readonly kind: 'share' }>,
  shares: ShareCurve,
  from: Instant,
  to: Instant,
): number | null {
  const mean = to > from ? shares.mean(from, to) : shares.mean(addSeconds(to, -1), to);
  return mean === null ? null : mean * model.unitsPerLoad;
}

function byContainer(
  values: ReadonlyMap<string, number>,
  container: string,
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const shared = new Map<number, ReadonlyMap<string, number>>();
  const containers = new Map<string, ReadonlyMap<string, number>>();
  for (const [pod, value] of values) {
    const usage = shared.get(value) ?? new Map([[container, value]]);
    shared.set(value, usage);
    containers.set(pod, usage);
  }
  return containers;
}
