import { errorSample } from '../../decision/samples/sample-rules.js';
import type { Sample } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec } from '../../scaler/spec.js';
import { addSeconds } from '../../units/time.js';
import type { MetricModel } from './metric-model.js';
import { type ShareContext, shareValues } from './pod-values.js';

interface SampleContext extends Omit<ShareContext, 'measuredAt'> {
  readonly scrapeIntervalSeconds: number;
}

const NO_DATA = 'the history has no value here';

/**
 * Returns the answer that the query of a metric would have given. The newest raw sample is half a scrape interval old,
 * which is the average.
 */
export function takeSample(metric: MetricSpec, model: MetricModel, context: SampleContext): Sample {
  const measuredAt = addSeconds(context.now, -context.scrapeIntervalSeconds / 2);
  if (metric.type === 'Object' || metric.type === 'External') {
    const value = totalOf(model, { ...context, measuredAt });
    return value === null
      ? errorSample('missing', NO_DATA)
      : { form: 'values', at: context.now, values: [value], partial: null };
  }
  const byPod = valuesByPod(model, { ...context, measuredAt });
  if (byPod.size === 0) return errorSample('missing', NO_DATA);
  const pods = [...byPod.keys()];
  const values = [...byPod.values()];
  const windowSeconds = model.kind === 'constant' ? 0 : model.windowSeconds;
  if (metric.type === 'Pods')
    return { form: 'pods', at: context.now, windowSeconds, pods, values, partial: null };
  const container = metric.type === 'ContainerResource' ? metric.container : CONTAINER;
  return {
    form: 'containers',
    at: addSeconds(context.now, -context.scrapeIntervalSeconds),
    windowSeconds,
    pods,
    starts: [...pods.keys(), pods.length],
    containers: pods.map(() => container),
    values,
    partial: null,
  };
}

/** The container of the simulated pods, unless a metric names another one. */
export const CONTAINER = 'app';

function totalOf(model: MetricModel, { now, measuredAt }: ShareContext): number | null {
  if (model.kind === 'constant' || model.loadIs === 'mean') return model.load.at(now);
  return model.load.mean(addSeconds(measuredAt, -model.spanSeconds), measuredAt);
}

function valuesByPod(model: MetricModel, context: ShareContext): ReadonlyMap<string, number> {
  if (model.kind === 'share') return shareValues(model, context);
  const value = model.load.at(context.now);
  return value === null ? new Map() : new Map(context.pods.map(({ name }) => [name, value]));
}
