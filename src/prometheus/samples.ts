import { errorSample, judgeValues, seriesCountError } from '../decision/samples/sample-rules.js';
import type { ErrorSample, Pod, Sample } from '../decision/snapshot/snapshot.js';
import { largestWrittenRangeSeconds } from '../promql/ranges.js';
import type {
  ContainerResourceMetric,
  MetricSpec,
  PodsMetric,
  ResourceMetric,
  Scaler,
} from '../scaler/spec.js';
import { addSeconds, type Instant } from '../units/time.js';
import type { Answer, Series } from './answers/answer.js';
import { resourceWindowSeconds } from './resource-queries.js';
import { indexByPod, labelOf, selectSeries } from './answers/series-index.js';
import { partialOf, whySamplePartial } from './answers/why-partial.js';
import type { SourceConfig } from './data-source/source-config.js';

interface SampleContext {
  readonly namespace: string;
  readonly pods: readonly Pod[];
  readonly now: Instant;
  /** The data source that was queried; null if the service config has none with that name. */
  readonly source: SourceConfig | null;
}

/** `droppedSeries`: the number of series of a Pods metric that belong to other pods. */
interface SampleResult {
  readonly sample: Sample;
  readonly droppedSeries: number;
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
): { readonly samples: readonly Sample[]; readonly droppedSeries: number } {
  const { pods, now, sources } = context;
  const results = scaler.spec.metrics.map((metric, index) => {
    const answer = answers[index];
    if (answer === undefined)
      throw new Error(`no answer for metric ${index} of ${scaler.namespace}/${scaler.name}`);
    const source = sources.get(metric.source) ?? null;
    return toSample(metric, answer, { namespace: scaler.namespace, pods, now, source });
  });
  return {
    samples: results.map(({ sample }) => sample),
    droppedSeries: results.reduce((sum, { droppedSeries }) => sum + droppedSeries, 0),
  };
}

/**
 * Returns the sample of one metric. Only series of the target's namespace and the listed pods count. `invalid`: two
 * series for one pod (and container), no `pod` label, or a violation of `decision/samples`. Partial: a partial answer,
 * some NaN, or a server clock that differs by more than 120 s. Source: snapshot.md, `samples[]`; algorithm.md, section
 * 2.
 */
export function toSample(metric: MetricSpec, answer: Answer, context: SampleContext): SampleResult {
  if (answer.class === 'failed' || answer.class === 'invalid' || answer.class === 'missing') {
    return withoutDrops(errorSample(answer.class, answer.message));
  }
  // Not `missing`, which `onMissing: zero` reads as 0: the server has reported that data is absent.
  if (answer.series.length === 0)
    return withoutDrops(errorSample('invalid', partialOf(answer) ?? 'no series'));
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource':
      return withoutDrops(containersSample(metric, answer, context));
    case 'Pods':
      return podsSample(metric, answer, context);
    case 'Object':
    case 'External':
      return withoutDrops(valuesSample(metric, answer, context));
    default:
      return metric satisfies never;
  }
}

function containersSample(
  metric: ResourceMetric | ContainerResourceMetric,
  answer: Answered,
  context: SampleContext,
): Sample {
  const { pods, namespace, source } = context;
  const wanted = metric.type === 'ContainerResource' ? metric.container : null;
  const index = indexByPod(answer.series);
  const places = [index.get(namespace), index.get(null)] as const;
  if (places.some((place) => place?.has(null) === true))
    return errorSample('invalid', 'a series has no label "pod"');
  const containers = new Map<string, Map<string, number>>();
  const values: number[] = [];
  for (const pod of pods) {
    const usage = new Map<string, number>();
    const series = seriesOf(pod.name, places);
    for (const one of series) {
      const container = labelOf(one, 'container') ?? '';
      if (wanted !== null && container !== wanted) continue;
      // A series without `container` is the whole pod. Other series next to it would count its usage twice.
      if (usage.has(container) || (usage.size > 0 && (container === '' || usage.has('')))) {
        return errorSample(
          'invalid',
          `two series for pod "${pod.name}"${container === '' ? '' : `, container "${container}"`}`,
        );
      }
      values.push(one.value);
      if (!Number.isNaN(one.value)) usage.set(container, one.value);
    }
    if (usage.size > 0) containers.set(pod.name, usage);
  }
  if (values.length === 0) {
    const which = wanted === null ? '' : `container "${wanted}" of `;
    return errorSample('missing', `no series of ${which}a listed pod`);
  }
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  return {
    form: 'containers',
    at: addSeconds(answer.evaluatedAt, -(source?.scrapeIntervalSeconds ?? 0)),
    windowSeconds: source === null ? 0 : resourceWindowSeconds(source, metric.name),
    containers,
    partial: whySamplePartial(answer, verdict, context.now),
  };
}

type Place = ReturnType<ReturnType<typeof indexByPod>['get']>;

const NO_SERIES: readonly Series[] = [];

/** Series with and without a namespace label are in two places, but most answers have one of them. */
function seriesOf(pod: string, [labeled, unlabeled]: readonly [Place, Place]): readonly Series[] {
  const some = labeled?.get(pod) ?? NO_SERIES;
  const others = unlabeled?.get(pod) ?? NO_SERIES;
  if (others.length === 0) return some;
  return some.length === 0 ? others : [...some, ...others];
}

function podsSample(metric: PodsMetric, answer: Answered, context: SampleContext): SampleResult {
  const selected = selectSeries(answer.series, metric.selector);
  if (selected.length === 0) return withoutDrops(noneSelected(answer));
  const index = indexByPod(selected);
  const places = [index.get(context.namespace), index.get(null)] as const;
  if (places.some((place) => place?.has(null) === true)) {
    return withoutDrops(
      errorSample('invalid', 'a series has no label "pod": a Pods query needs one series for each pod'),
    );
  }
  const pods = new Map<string, number>();
  const values: number[] = [];
  for (const pod of context.pods) {
    const series = seriesOf(pod.name, places);
    const [one] = series;
    if (one === undefined) continue;
    if (series.length > 1) {
      return withoutDrops(
        errorSample('invalid', `${series.length} series for pod "${pod.name}": aggregate by (pod)`),
      );
    }
    values.push(one.value);
    if (!Number.isNaN(one.value)) pods.set(pod.name, one.value);
  }
  const droppedSeries = selected.length - values.length;
  if (values.length === 0)
    return { sample: errorSample('missing', 'no series of a listed pod'), droppedSeries };
  const verdict = judgeValues(values);
  if (verdict.error !== null) return { sample: verdict.error, droppedSeries };
  const sample: Sample = {
    form: 'pods',
    at: answer.evaluatedAt,
    windowSeconds: windowOf(metric),
    pods,
    partial: whySamplePartial(answer, verdict, context.now),
  };
  return { sample, droppedSeries };
}

const windows = new WeakMap<PodsMetric, number>();

function windowOf(metric: PodsMetric): number {
  const known = windows.get(metric);
  if (known !== undefined) return known;
  const seconds = largestWrittenRangeSeconds(metric.query);
  windows.set(metric, seconds);
  return seconds;
}

function valuesSample(
  metric: Extract<MetricSpec, { readonly type: 'Object' | 'External' }>,
  answer: Answered,
  context: SampleContext,
): Sample {
  const selected = selectSeries(answer.series, metric.selector);
  if (selected.length === 0) return noneSelected(answer);
  const countError = seriesCountError(metric, selected.length);
  if (countError !== null) return errorSample('invalid', countError);
  const values = selected.map(({ value }) => value);
  const verdict = judgeValues(values);
  if (verdict.error !== null) return verdict.error;
  return {
    form: 'values',
    at: answer.evaluatedAt,
    values: values.filter((value) => !Number.isNaN(value)),
    partial: whySamplePartial(answer, verdict, context.now),
  };
}

function noneSelected(answer: Answered): ErrorSample {
  const message = `none of ${answer.series.length} series matches metric.selector`;
  const why = partialOf(answer);
  return why === null ? errorSample('missing', message) : errorSample('invalid', `${message}, and ${why}`);
}

function withoutDrops(sample: Sample): SampleResult {
  return { sample, droppedSeries: 0 };
}
