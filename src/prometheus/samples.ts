import { errorSample, judgeValues, seriesCountError } from '../decision/samples/sample-rules.js';
import {
  type ContainerUsage,
  type ErrorSample,
  listUsage,
  type Pod,
  type Sample,
} from '../decision/snapshot/snapshot.js';
import type {
  ContainerResourceMetric,
  MetricSpec,
  PodsMetric,
  ResourceMetric,
  Scaler,
  TargetRef,
} from '../scaler/spec.js';
import { addSeconds, type Instant } from '../units/time.js';
import type { Answer } from './answers/answer.js';
import { type PickedSeries, pickSeries } from './pick-series.js';
import { resourceWindowSeconds } from './data-source/resource-queries.js';
import { columnsOf, type SeriesColumns } from './answers/series-columns.js';
import { selectRows } from './answers/series-index.js';
import { partialOf, whySamplePartial } from './answers/why-partial.js';
import type { SourceConfig } from './data-source/source-config.js';

interface SampleContext {
  readonly namespace: string;
  readonly workload: TargetRef;
  readonly pods: readonly Pod[];
  readonly now: Instant;
  /** The data source that was queried; null if the service config has none with that name. */
  readonly source: SourceConfig | null;
}

type Answered = Extract<Answer, { readonly series: unknown }>;

/** Returns the samples of a scaler from its answers, both in the order of `spec.metrics`. */
export function toSamples(
  scaler: Scaler,
  answers: readonly Answer[],
  context: {
    readonly pods: readonly Pod[];
    readonly now: Instant;
    readonly sources: ReadonlyMap<string, SourceConfig>;
  },
): readonly Sample[] {
  const { pods, now, sources } = context;
  const { namespace, spec } = scaler;
  const samples: Sample[] = [];
  for (const metric of spec.metrics) {
    const answer = answers[samples.length];
    if (answer === undefined) throw new Error(`no answer for metric ${samples.length} of ${scaler.key}`);
    const source = sources.get(metric.source) ?? null;
    samples.push(toSample(metric, answer, { namespace, workload: spec.scaleTargetRef, pods, now, source }));
  }
  return samples;
}

/**
 * Returns the sample of one metric. Only series of the target's namespace and the listed pods count. `invalid`: two
 * series for one pod (and container), no `pod` label, or a violation of `decision/samples`. Partial: a partial answer,
 * some NaN, or a server clock that differs by more than 120 s. Source: snapshot.md, `samples[]`; algorithm.md, section
 * 2.
 */
export function toSample(metric: MetricSpec, answer: Answer, context: SampleContext): Sample {
  if (answer.class === 'failed' || answer.class === 'invalid' || answer.class === 'missing') {
    return errorSample(answer.class, answer.message);
  }
  // Not `missing`, which `onMissing: zero` reads as 0: the server has reported that data is absent.
  if (columnsOf(answer).layout.count === 0) return errorSample('invalid', partialOf(answer) ?? 'no series');
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource':
      return containersSample(metric, answer, context);
    case 'Pods':
      return podsSample(metric, answer, context);
    case 'Object':
    case 'External':
      return valuesSample(metric, answer, context);
    default:
      return metric satisfies never;
  }
}

function containersSample(
  metric: ResourceMetric | ContainerResourceMetric,
  answer: Answered,
  context: SampleContext,
): Sample {
  const { source } = context;
  const columns = columnsOf(answer);
  const picked = pickSeries(metric, columns, context);
  if (picked.isPodMissing) return errorSample('invalid', 'a series has no label "pod"');
  const values = picked.rows.map((row) => columns.values[row] ?? NaN);
  const usage = usageOf(picked, values);
  if ('form' in usage) return usage;
  if (values.length === 0) {
    const which = metric.type === 'ContainerResource' ? `container "${metric.container}" of ` : '';
    return noneSelected(answer, `no series of ${which}a listed pod`);
  }
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  return {
    form: 'containers',
    at: addSeconds(answer.evaluatedAt, -(source?.scrapeIntervalSeconds ?? 0)),
    windowSeconds: source === null ? 0 : resourceWindowSeconds(source, metric.name),
    pods: usage.pods,
    starts: usage.starts,
    containers: usage.containers,
    values: usage.values,
    partial: whySamplePartial(answer, verdict, context.now),
  };
}

/** Returns the usage of each container without NaN, or why it is unknown. */
function usageOf(
  { places, isDistinct }: PickedSeries,
  values: readonly number[],
): ContainerUsage | ErrorSample {
  if (isDistinct && !values.some(Number.isNaN)) {
    const { pods, starts, containers } = places;
    return { pods, starts, containers, values };
  }
  const byPod = new Map<string, Map<string, number>>();
  for (const [index, pod] of places.pods.entries()) {
    const usage = new Map<string, number>();
    for (let at = places.starts[index] ?? 0; at < (places.starts[index + 1] ?? 0); at += 1) {
      const container = places.containers[at] ?? '';
      const value = values[at] ?? NaN;
      // A series without `container` is the whole pod. Other series next to it would count its usage twice.
      if (usage.has(container) || (usage.size > 0 && (container === '' || usage.has('')))) {
        return errorSample(
          'invalid',
          `two series for pod "${pod}"${container === '' ? '' : `, container "${container}"`}`,
        );
      }
      if (!Number.isNaN(value)) usage.set(container, value);
    }
    if (usage.size > 0) byPod.set(pod, usage);
  }
  return listUsage(byPod);
}

function podsSample(metric: PodsMetric, answer: Answered, context: SampleContext): Sample {
  const columns = columnsOf(answer);
  const picked = pickSeries(metric, columns, context);
  if (picked.isNoneSelected) return noneSelected(answer, noMatch(columns));
  if (picked.isPodMissing) {
    return errorSample('invalid', 'a series has no label "pod": a Pods query needs one series for each pod');
  }
  const { pods, starts } = picked.places;
  if (!picked.isDistinct) {
    const index = pods.findIndex((_, at) => (starts[at + 1] ?? 0) - (starts[at] ?? 0) > 1);
    const count = (starts[index + 1] ?? 0) - (starts[index] ?? 0);
    return errorSample('invalid', `${count} series for pod "${pods[index] ?? ''}": aggregate by (pod)`);
  }
  const values = picked.rows.map((row) => columns.values[row] ?? NaN);
  if (values.length === 0) return noneSelected(answer, 'no series of a listed pod');
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  return {
    form: 'pods',
    at: answer.evaluatedAt,
    windowSeconds: picked.windowSeconds,
    pods: verdict.partial === null ? pods : pods.filter((_, index) => !Number.isNaN(values[index])),
    values: verdict.partial === null ? values : values.filter((value) => !Number.isNaN(value)),
    partial: whySamplePartial(answer, verdict, context.now),
  };
}

function valuesSample(
  metric: Extract<MetricSpec, { readonly type: 'Object' | 'External' }>,
  answer: Answered,
  context: SampleContext,
): Sample {
  const columns = columnsOf(answer);
  const rows = selectRows(columns, metric.selector);
  const values = rows === null ? columns.values : rows.map((row) => columns.values[row] ?? NaN);
  if (values.length === 0) return noneSelected(answer, noMatch(columns));
  const countError = seriesCountError(metric, values.length);
  if (countError !== null) return errorSample('invalid', countError);
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  return {
    form: 'values',
    at: answer.evaluatedAt,
    values: verdict.partial === null ? values : values.filter((value) => !Number.isNaN(value)),
    partial: whySamplePartial(answer, verdict, context.now),
  };
}

/** The series may be those that a partial answer lacks. */
function noneSelected(answer: Answered, message: string): ErrorSample {
  const why = partialOf(answer);
  return why === null ? errorSample('missing', message) : errorSample('invalid', `${message}, and ${why}`);
}

function noMatch({ layout }: SeriesColumns): string {
  return `none of ${layout.count} series matches metric.selector`;
}
