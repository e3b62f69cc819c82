import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Series } from '../../../src/prometheus/answers/columns.js';
import { createSampleAges, type SampleAges } from '../../../src/prometheus/queries/sample-ages.js';
import type { MetricSpec } from '../../../src/scaler/spec.js';
import { instantFromSeconds } from '../../../src/units/time.js';
import { type AgeQuery, readAgeQuery } from '../../faults/age-queries.js';
import { createRandom } from '../../faults/simulation/random.js';
import { aScaler, aSource, cpuMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';

const NOW = 1_700_000_000;
const WORKLOADS = 40;
const PODS = 3;
const config = aSource({
  resourceQueries: {
    cpu: 'sum by (namespace, pod, container) (rate(cpu_seconds_total{namespace=~"$namespaces"}[2m]))',
  },
});
const byPod: MetricSpec = {
  type: 'Pods',
  name: 'rps',
  identity: 'rps',
  source: 'default',
  query: 'sum by (pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[2m]))',
  selector: [],
  target: { type: 'AverageValue', milli: 1000n },
};

/** What a server knows about the samples of a pod: the times of the last 10 minutes, in seconds before now. */
interface Scraped {
  readonly pod: string;
  readonly job: string;
  readonly intervalSeconds: number;
  readonly newest: number;
  readonly gapFrom: number;
  readonly gapTo: number;
  readonly isFailing: boolean;
}

const nameOf = (index: number): string => `web-${index}`;
const podsOf = (index: number): readonly string[] =>
  Array.from({ length: PODS }, (_, pod) => `${nameOf(index)}-abc-${String(10000 + pod)}`);

function has(target: Scraped, fromAgo: number, toAgo: number): number | null {
  for (let ago = target.newest; ago < 3600; ago += target.intervalSeconds)
    if (ago >= toAgo && ago < fromAgo && !(ago > target.gapFrom && ago < target.gapTo)) return ago;
  return null;
}

function answerTo(query: AgeQuery, targets: readonly Scraped[]): readonly Series[] {
  if (query.kind === 'failing')
    return targets
      .filter(({ isFailing }) => isFailing)
      .map(({ pod, job }) => ({ labels: { job, instance: pod }, value: 0 }));
  const pattern = /pod=~"([^"]*)"/.exec(query.selector)?.[1];
  const selected = targets.filter(
    ({ pod }) => pattern === undefined || new RegExp(`^(?:${pattern})$`).test(pod),
  );
  const ofTarget = ({ pod, job }: Scraped, mark?: string): Record<string, string> => ({
    job,
    instance: pod,
    pod,
    ...(mark === undefined ? {} : { [mark]: '1' }),
  });
  const newest = (offset: number, mark?: string) =>
    selected.flatMap((target) => {
      const ago = has(target, offset + 300, offset);
      return ago === null ? [] : [{ labels: ofTarget(target, mark), value: NOW - ago }];
    });
  switch (query.kind) {
    case 'interval':
      return Array.from(new Map(selected.map((one) => [one.job, one.intervalSeconds])), ([job, value]) => ({
        labels: { job },
        value,
      }));
    case 'newest':
      return [
        ...newest(query.offsetSeconds),
        ...(query.start === null ? [] : newest(query.start.offsetSeconds, query.start.mark)),
      ];
    case 'seen':
    case 'samples':
      return selected
        .filter((one) => has(one, query.offsetSeconds + query.rangeSeconds, query.offsetSeconds) !== null)
        .map((one) => ({ labels: ofTarget(one), value: 1 }));
    default:
      return query satisfies never;
  }
}

function someTargets(seed: number, intervals: readonly number[]): readonly Scraped[] {
  const random = createRandom(seed);
  return Array.from({ length: WORKLOADS }, (_, index) => {
    const job = `job-${Math.floor(random.next() * 3)}`;
    const intervalSeconds = intervals[Number(job.at(-1)) % intervals.length] ?? 15;
    const isLate = random.next() < 0.2;
    const hasGap = random.next() < 0.2;
    return podsOf(index).map((pod) => ({
      pod,
      job,
      intervalSeconds,
      newest: isLate && random.next() < 0.7 ? 20 + random.next() * 200 : random.next() * intervalSeconds,
      gapFrom: hasGap ? 60 : 0,
      gapTo: hasGap ? 60 + random.next() * 400 : 0,
      isFailing: random.next() < 0.05,
    }));
  }).flat();
}

function server(targets: readonly Scraped[], { maxSeries = Infinity, podless = 0 } = {}) {
  const asked: string[] = [];
  const answers = new Map<string, Promise<Answer>>();
  const answer = (text: string): Answer => {
    asked.push(text);
    const query = readAgeQuery(text);
    if (query === null) throw new Error(`not a query for ages: ${text}`);
    const series = answerTo(query, targets);
    const others =
      query.kind === 'newest' && !query.selector.includes('pod=~')
        ? Array.from({ length: podless }, (_, node) => ({
            labels: { job: 'job-0', instance: `node-${node}` },
            value: NOW,
          }))
        : [];
    const all = [...series, ...others];
    if (all.length > maxSeries) return { class: 'failed', reason: 'too_large', message: 'too many series' };
    return all.length === 0
      ? { class: 'missing', message: 'no series' }
      : { class: 'value', series: all, evaluatedAt: instantFromSeconds(NOW) };
  };
  const ask = (text: string): Promise<Answer> => {
    let known = answers.get(text);
    if (known === undefined) answers.set(text, (known = Promise.resolve().then(() => answer(text))));
    return known;
  };
  return { ask, asked };
}

const checkOf = (
  ages: SampleAges,
  metric: MetricSpec,
  index: number,
  ask: (query: string) => Promise<Answer>,
  source = config,
): Promise<string | null> =>
  ages.check(
    {
      scaler: aScaler([metric], 'shop', nameOf(index)),
      metric,
      config: source,
      pods: new Set(podsOf(index)),
      valueAtSeconds: null,
      seconds: 10,
      mayBeKept: false,
    },
    ask,
  );

const indexes = Array.from({ length: WORKLOADS }, (_, index) => index);

async function alone(metric: MetricSpec, targets: readonly Scraped[]): Promise<readonly (string | null)[]> {
  return Promise.all(
    indexes.map((index) => checkOf(createSampleAges(new ManualClock()), metric, index, server(targets).ask)),
  );
}

async function together(
  metric: MetricSpec,
  targets: readonly Scraped[],
  options: { readonly maxSeries?: number; readonly podless?: number } = {},
) {
  const { ask, asked } = server(targets, options);
  const ages = createSampleAges(new ManualClock());
  return { verdicts: await Promise.all(indexes.map((index) => checkOf(ages, metric, index, ask))), asked };
}

describe('a resource query whose series have another label for the pod', () => {
  it.each(['{namespace=~"$namespaces", mode="x"}', '{namespace=~"$namespaces",mode="x"}'])(
    'is checked by all series of the namespace: %s',
    async (matchers) => {
      const query = `sum by (namespace, pod) (rate(cpu_seconds_total${matchers}[2m]))`;
      const source = aSource({ resourceQueries: { cpu: query } });
      const late = someTargets(1, [15]).map((one) => ({ ...one, newest: 90, gapTo: 0, isFailing: false }));
      const ask = (text: string): Promise<Answer> =>
        text.includes('pod=~')
          ? Promise.resolve({ class: 'missing', message: 'no series' })
          : server(late).ask(text);
      const ages = createSampleAges(new ManualClock());

      expect(await checkOf(ages, cpuMetric, 0, ask, source)).toMatch(/^the value is based on old samples/);
    },
  );
});

describe.each([
  ['cpu', cpuMetric],
  ['a query with $pods', byPod],
])('40 workloads of a namespace that scale down at once, by %s', (_, metric) => {
  it('get the same verdict as alone, 20 times', async () => {
    let old = 0;
    for (let seed = 1; seed <= 20; seed += 1) {
      const targets = someTargets(seed, seed % 2 === 0 ? [15] : [15, 60]);
      const { verdicts } = await together(metric, targets);
      expect(verdicts).toEqual(await alone(metric, targets));
      old += verdicts.filter((why) => why !== null).length;
    }

    expect(old).toBeGreaterThan(100);
    expect(old).toBeLessThan(500);
  });

  it('are checked by at most 12 queries instead of 81', async () => {
    const fresh = someTargets(1, [15]).map((one) => ({ ...one, newest: 5, gapTo: 0, isFailing: false }));

    expect((await together(metric, fresh)).asked.length).toBeLessThanOrEqual(12);
  });

  it('are checked one by one if the server refuses the answer for all', async () => {
    const targets = someTargets(2, [15]);

    expect((await together(metric, targets, { maxSeries: 20 })).verdicts).toEqual(
      await alone(metric, targets),
    );
  });

  it('are not taken for fresh because of series without a pod', async () => {
    const targets = someTargets(3, [15]);

    expect((await together(metric, targets, { podless: 100 })).verdicts).toEqual(
      await alone(metric, targets),
    );
  });
});
