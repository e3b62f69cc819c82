import type { ErrorSample, Pod, Sample, SampleErrorKind } from '../decision/snapshot.js';
import { largestWrittenRangeSeconds } from '../promql/ranges.js';
import type {
  ContainerResourceMetric,
  MetricSpec,
  PodsMetric,
  ResourceMetric,
  Scaler,
} from '../scaler/spec.js';
import { addSeconds, type Instant, secondsBetween } from '../units/time.js';
import type { Answer, Series } from './answer.js';
import { resourceWindowSeconds } from './resource-queries.js';
import { indexByPod, labelOf, selectSeries } from './series-index.js';
import type { SourceConfig } from './source-config.js';

/** What an answer is read against. */
export interface SampleContext {
  readonly namespace: string;
  /** The pods that the target's selector matches. */
  readonly pods: readonly Pod[];
  /** The local clock. */
  readonly now: Instant;
  /** The data source that answered; null where there is none of that name. */
  readonly source: SourceConfig | null;
}

/** A sample, and how many series of a Pods metric were of other pods and left out. */
export interface SampleResult {
  readonly sample: Sample;
  readonly droppedSeries: number;
}

/** A server whose clock is further away than this may have answered for a time without data. */
const MAX_SKEW_SECONDS = 120;

type Answered = Extract<Answer, { readonly series: unknown }>;

/** The samples of a scaler, in the order of `spec.metrics`, from its answers in the same order. */
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
 * The sample of one metric. Only the target's namespace and the listed pods count; two series for one pod (and
 * container), a missing `pod` label, an infinite or negative value, or another number of series than one for an Object
 * make it `invalid`. NaN series are dropped, which makes it partial; only NaN makes it `nan`. A server clock more than
 * 120 s away makes it partial. Source: snapshot.md, `samples[]`; reliability.md, 3.2.
 */
export function toSample(metric: MetricSpec, answer: Answer, context: SampleContext): SampleResult {
  if (answer.class === 'failed' || answer.class === 'invalid' || answer.class === 'missing') {
    return withoutDrops(error(answer.class, answer.message));
  }
  // Not `missing`: that would be 0 where the document says `onMissing: zero`, though the server knows that data lacks.
  if (answer.series.length === 0) return withoutDrops(error('invalid', partialOf(answer) ?? 'no series'));
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
  const places = [index.get(namespace), index.get(null)];
  if (places.some((place) => place?.has(null) === true))
    return error('invalid', 'a series has no label "pod"');
  const containers = new Map<string, Map<string, number>>();
  const judge = createJudge();
  for (const pod of pods) {
    const usage = new Map<string, number>();
    const series = places.flatMap((place) => place?.get(pod.name) ?? []);
    for (const one of series) {
      const container = labelOf(one, 'container') ?? '';
      if (wanted !== null && container !== wanted) continue;
      // A series without `container` is the whole pod: beside others it would count everything twice.
      if (usage.has(container) || (usage.size > 0 && (container === '' || usage.has('')))) {
        return error(
          'invalid',
          `two series for pod "${pod.name}"${container === '' ? '' : `, container "${container}"`}`,
        );
      }
      const value = judge.take(one);
      if (value === 'invalid') return error('invalid', judge.complaint(one));
      if (value !== null) usage.set(container, value);
    }
    if (usage.size > 0) containers.set(pod.name, usage);
  }
  const none =
    wanted === null ? 'no series of a listed pod' : `no series of container "${wanted}" of a listed pod`;
  const failure = judge.failure(none);
  if (failure !== null) return failure;
  return {
    form: 'containers',
    at: addSeconds(answer.evaluatedAt, -(source?.scrapeIntervalSeconds ?? 0)),
    windowSeconds: source === null ? 0 : resourceWindowSeconds(source, metric.name),
    containers,
    partial: reasons(answer, context, judge.nanWords()),
  };
}

function podsSample(metric: PodsMetric, answer: Answered, context: SampleContext): SampleResult {
  const selected = selectSeries(answer.series, metric.selector);
  if (selected.length === 0) return withoutDrops(noneSelected(answer));
  const index = indexByPod(selected);
  const places = [index.get(context.namespace), index.get(null)];
  if (places.some((place) => place?.has(null) === true)) {
    return withoutDrops(
      error('invalid', 'a series has no label "pod": a Pods query needs one series for each pod'),
    );
  }
  const pods = new Map<string, number>();
  const judge = createJudge();
  for (const pod of context.pods) {
    const series = places.flatMap((place) => place?.get(pod.name) ?? []);
    const [one] = series;
    if (one === undefined) continue;
    if (series.length > 1) {
      return withoutDrops(
        error('invalid', `${series.length} series for pod "${pod.name}": aggregate by (pod)`),
      );
    }
    const value = judge.take(one);
    if (value === 'invalid') return withoutDrops(error('invalid', judge.complaint(one)));
    if (value !== null) pods.set(pod.name, value);
  }
  const droppedSeries = selected.length - judge.count();
  const failure = judge.failure('no series of a listed pod');
  if (failure !== null) return { sample: failure, droppedSeries };
  const sample: Sample = {
    form: 'pods',
    at: answer.evaluatedAt,
    windowSeconds: windowOf(metric),
    pods,
    partial: reasons(answer, context, judge.nanWords()),
  };
  return { sample, droppedSeries };
}

const windows = new WeakMap<PodsMetric, number>();

/** The largest range written in the query; parsed once for each document. */
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
  if (metric.type === 'Object' && selected.length !== 1) {
    return error('invalid', `${selected.length} series, an Object metric needs exactly one`);
  }
  const values: number[] = [];
  const judge = createJudge();
  for (const one of selected) {
    const value = judge.take(one);
    if (value === 'invalid') return error('invalid', judge.complaint(one));
    if (value !== null) values.push(value);
  }
  const failure = judge.failure('no series');
  if (failure !== null) return failure;
  return {
    form: 'values',
    at: answer.evaluatedAt,
    values,
    partial: reasons(answer, context, judge.nanWords()),
  };
}

function noneSelected(answer: Answered): ErrorSample {
  const message = `none of ${answer.series.length} series matches metric.selector`;
  const why = partialOf(answer);
  return why === null ? error('missing', message) : error('invalid', `${message}, and ${why}`);
}

/** Takes values one by one: a number, null for NaN, or `invalid`; and counts them. */
interface Judge {
  readonly take: (series: Series) => number | null | 'invalid';
  readonly complaint: (series: Series) => string;
  readonly count: () => number;
  /** The error where nothing was taken, or nothing but NaN. */
  readonly failure: (none: string) => ErrorSample | null;
  readonly nanWords: () => string | null;
}

function createJudge(): Judge {
  let total = 0;
  let nan = 0;
  return {
    take: ({ value }) => {
      total += 1;
      if (Number.isNaN(value)) {
        nan += 1;
        return null;
      }
      return Number.isFinite(value) && value >= 0 ? value : 'invalid';
    },
    complaint: ({ value }) =>
      `a series has the value ${value}, which is ${value < 0 ? 'negative' : 'not finite'}`,
    count: () => total,
    failure: (none) => {
      if (total === 0) return error('missing', none);
      return nan === total
        ? error('nan', total === 1 ? 'the value is NaN' : `all ${total} series are NaN`)
        : null;
    },
    nanWords: () => (nan === 0 ? null : `${nan} of ${total} series are NaN`),
  };
}

function reasons(answer: Answered, { now }: SampleContext, nanWords: string | null): string | null {
  const skewSeconds = Math.round(Math.abs(secondsBetween(now, answer.evaluatedAt)));
  const skewWords = skewSeconds > MAX_SKEW_SECONDS ? `clocks apart by ${skewSeconds} s` : null;
  const all = [partialOf(answer), nanWords, skewWords].filter((reason) => reason !== null);
  return all.length === 0 ? null : all.join('; ');
}

function partialOf(answer: Answered): string | null {
  return answer.class === 'partial' ? answer.why : null;
}

function error(kind: SampleErrorKind, message: string): ErrorSample {
  return { form: 'error', kind, error: message };
}

function withoutDrops(sample: Sample): SampleResult {
  return { sample, droppedSeries: 0 };
}
