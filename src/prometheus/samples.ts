import {
  errorSample,
  judgeValues,
  seriesCountError,
  type ValuesVerdict,
} from '../decision/snapshot/judge-sample.js';
import {
  type ContainersSample,
  type ContainerUsage,
  type ErrorSample,
  listUsage,
  type Pod,
  type Sample,
  type ValuesSample,
} from '../decision/snapshot/snapshot.js';
import type {
  ContainerResourceMetric,
  MetricSpec,
  PodsMetric,
  ResourceMetric,
  Scaler,
} from '../scaler/spec.js';
import { addSeconds, type Instant, secondsBetween } from '../units/time.js';
import type { Answer, AnswerWithSeries } from './answers/answer.js';
import { columnsOf, selectRows, type SeriesColumns } from './answers/columns.js';
import { resourceWindowSeconds, takesWindow } from './data-source/resource-queries.js';
import type { SourceConfig } from './data-source/source-config.js';
import { type PickedSeries, pickSeries, type SeriesScope } from './pick-series.js';

interface SampleContext extends SeriesScope {
  /** The data source that was queried; null if the service config has none with that name. */
  readonly source: SourceConfig | null;
}

/** If the clock of a server differs by more, it may have evaluated the query at a time without data. */
const MAX_SKEW_SECONDS = 120;

/** Converts the answers of a scaler to samples. Both are in the order of `spec.metrics`. */
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

/** Converts the answer to the query of `maxReplicasFrom` to a sample. */
export function toCeiling(
  answer: Answer,
  { source, now }: { readonly source: string; readonly now: Instant },
): ValuesSample | ErrorSample {
  const answered = answeredOrError(answer, source);
  return 'form' in answered ? answered : judgedValues(answered, columnsOf(answered).values, now);
}

/**
 * Returns the sample of one metric.
 * The sample is an error of the kind `invalid` if a pod (or container) has two series, if a series has no label `pod`,
 * or if it violates a rule of `judge-sample.ts`. It is partial if the answer is partial, if some values are NaN, or if
 * the clock of the server differs by more than 120 s. Source: snapshot.md, `samples[]`; algorithm.md, section 2.
 */
export function toSample(metric: MetricSpec, answer: Answer, context: SampleContext): Sample {
  const answered = answeredOrError(answer, metric.source);
  if ('form' in answered) return answered;
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource':
      return containersSample(metric, answered, context);
    case 'Pods':
      return podsSample(metric, answered, context);
    case 'Object':
    case 'External':
      return valuesSample(metric, answered, context);
    default:
      return metric satisfies never;
  }
}

function answeredOrError(answer: Answer, source: string): AnswerWithSeries | ErrorSample {
  if (answer.class === 'failed')
    return { form: 'error', failure: answer.reason === 'internal_error' ? answer : { ...answer, source } };
  if (answer.class === 'invalid' || answer.class === 'missing')
    return errorSample(answer.class, answer.message);
  // A partial answer without series is `invalid`, not `missing`, which `onMissing: zero` would count as 0: the server
  // reported that data is absent.
  if (columnsOf(answer).layout.count === 0) return errorSample('invalid', partialOf(answer) ?? 'no series');
  return answer;
}

function containersSample(
  metric: ResourceMetric | ContainerResourceMetric,
  answer: AnswerWithSeries,
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
    return noneSelected(answer, `no series belongs to ${which}a pod of the target`);
  }
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  return {
    form: 'containers',
    at: source === null ? answer.evaluatedAt : resourceSampledAt(source, answer.evaluatedAt),
    ...(source === null ? { windowSeconds: 0 } : windowOfResource(source, metric.name)),
    pods: usage.pods,
    starts: usage.starts,
    containers: usage.containers,
    values: usage.values,
    ...(answer.served === undefined ? {} : { served: answer.served }),
    partial: whySamplePartial(answer, verdict, context.now),
  };
}

/** Returns the assumed time of the samples of a resource query: one scrape interval before the query was evaluated. */
export function resourceSampledAt(source: SourceConfig, evaluatedAt: Instant): Instant {
  return addSeconds(evaluatedAt, -(source.learnedIntervalSeconds ?? source.scrapeIntervalSeconds));
}

function windowOfResource(
  source: SourceConfig,
  resource: string,
): Pick<ContainersSample, 'windowSeconds' | 'learnedIntervalSeconds'> {
  const windowSeconds = resourceWindowSeconds(source, resource);
  const { learnedIntervalSeconds } = source;
  return learnedIntervalSeconds === undefined || !takesWindow(source, resource)
    ? { windowSeconds }
    : { windowSeconds, learnedIntervalSeconds };
}

/** Returns the usage of the containers, without those whose value is NaN; or an error if a container has two series. */
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
      // A series without `container` contains the usage of the whole pod, so that other series of the pod would count
      // it twice.
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

function podsSample(metric: PodsMetric, answer: AnswerWithSeries, context: SampleContext): Sample {
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
  if (values.length === 0) return noneSelected(answer, 'no series belongs to a pod of the target');
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
  answer: AnswerWithSeries,
  context: SampleContext,
): Sample {
  const columns = columnsOf(answer);
  const rows = selectRows(columns, metric.selector);
  const values = rows === null ? columns.values : rows.map((row) => columns.values[row] ?? NaN);
  if (values.length === 0) return noneSelected(answer, noMatch(columns));
  const countError = seriesCountError(metric, values.length);
  return countError === null ? judgedValues(answer, values, context.now) : errorSample('invalid', countError);
}

function judgedValues(
  answer: AnswerWithSeries,
  values: readonly number[],
  now: Instant,
): ValuesSample | ErrorSample {
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  const { backlog, capacity } = answer;
  return {
    form: 'values',
    at: answer.evaluatedAt,
    values: verdict.partial === null ? values : values.filter((value) => !Number.isNaN(value)),
    ...(backlog === undefined ? {} : { backlog }),
    ...(capacity === undefined ? {} : { capacity }),
    partial: whySamplePartial(answer, verdict, now),
  };
}

/** If the answer is partial, the error is not `missing`, because the series may be absent only from this answer. */
function noneSelected(answer: AnswerWithSeries, message: string): ErrorSample {
  const why = partialOf(answer);
  return why === null ? errorSample('missing', message) : errorSample('invalid', `${message}, and ${why}`);
}

function noMatch({ layout }: SeriesColumns): string {
  return `none of ${layout.count} series matches metric.selector`;
}

/**
 * Returns why a sample is partial, so that it cannot lower the count; null: it is not. The reasons are joined: the
 * answer is partial, some series are NaN, the clock of the server differs by more than 120 s.
 */
function whySamplePartial(answer: Answer, verdict: ValuesVerdict, now: Instant): string | null {
  const all = [partialOf(answer), verdict.partial, skewOf(answer, now)].filter((reason) => reason !== null);
  return all.length === 0 ? null : all.join('; ');
}

function partialOf(answer: Answer): string | null {
  return answer.class === 'partial' ? answer.why : null;
}

function skewOf(answer: Answer, now: Instant): string | null {
  if (!('evaluatedAt' in answer)) return null;
  const skewSeconds = Math.round(Math.abs(secondsBetween(now, answer.evaluatedAt)));
  return skewSeconds > MAX_SKEW_SECONDS
    ? `the clocks of the server and of promscaler differ by ${skewSeconds} s`
    : null;
}
