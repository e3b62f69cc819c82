import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { MetricSpec } from '../../../src/scaler/spec.js';
import { aSource, cpuMetric, externalMetric } from '../../support/builders.js';
import { type FilledServer, type ServerName, startFilled } from '../../support/filled-server.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import { realClock, startRound } from '../fakes.js';
import { due } from '../round-fixture.js';

/*
 * Real servers with the samples that failures leave behind. The scrape interval is 60 s, the range 480 s,
 * so that a test that waits for a processor sees the same.
 */

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const INTERVAL = 60;
const PODS = Array.from({ length: 8 }, (_, index) => `web-6d4cf5-aaaa${index}`);

/** Ages in seconds at which there are samples. */
interface Scraped {
  /** Of the oldest sample; default: 40 minutes. */
  readonly from?: number;
  /** Of the newest sample; default: 3 s. */
  readonly to?: number;
  /** No samples in between. */
  readonly hole?: readonly [older: number, newer: number];
  /** Since when scrapes have failed, which Prometheus marks; null: they succeed. */
  readonly failingFor?: number | null;
  /** Whether the target was removed, so that its `up` has ended, too. */
  readonly isRemoved?: boolean;
  /** Whether its last scrape failed before it was removed. */
  readonly hasFailed?: boolean;
}

const LIVE: Scraped = {};

/** The targets of a workload, and whether scale-down has to wait. */
interface Case {
  readonly targets: readonly Scraped[];
  readonly isOld: boolean;
  /** For a query by pod; default: `isOld`. */
  readonly isOldByPod?: boolean;
  /** On VictoriaMetrics; default: `isOld`. */
  readonly isOldOnVictoriaMetrics?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  fresh: { targets: PODS.map(() => LIVE), isOld: false },
  late_by_20: { targets: PODS.map(() => ({ to: 20 })), isOld: false },
  late_by_100: { targets: PODS.map(() => ({ to: 100 })), isOld: true },
  late_by_half: { targets: PODS.map(() => ({ to: 240 })), isOld: true },
  late_by_nearly_all: { targets: PODS.map(() => ({ to: 400 })), isOld: true },
  one_of_eight_late_by_120: {
    targets: PODS.map((_, index) => (index > 0 ? LIVE : { to: 120 })),
    isOld: false,
  },
  all_fail: { targets: PODS.map(() => ({ failingFor: 120 })), isOld: true },
  half_fail: { targets: PODS.map((_, index) => (index > 3 ? LIVE : { failingFor: 160 })), isOld: true },
  half_fail_for_long: {
    targets: PODS.map((_, index) => (index > 3 ? LIVE : { failingFor: 1000 })),
    isOld: true,
  },
  half_removed: {
    targets: PODS.map((_, index) => (index > 3 ? LIVE : { failingFor: 160, isRemoved: true })),
    isOld: false,
  },
  half_removed_after_a_failure: {
    targets: PODS.map((_, index) =>
      index > 3 ? LIVE : { failingFor: 160, isRemoved: true, hasFailed: true },
    ),
    isOld: false,
  },
  all_young: { targets: PODS.map(() => ({ from: 200 })), isOld: false, isOldByPod: true },
  one_of_eight_young: {
    targets: PODS.map((_, index) => (index > 0 ? LIVE : { from: 200 })),
    isOld: false,
    isOldByPod: true,
  },
  nearly_young: { targets: PODS.map(() => ({ from: 426 })), isOld: false },
  rollout: {
    targets: [...PODS.map(() => ({ failingFor: 240, isRemoved: true })), ...PODS.map(() => ({ from: 280 }))],
    isOld: false,
    // The rates of removed pods do not count, and those of young pods are too low.
    isOldByPod: true,
  },
  hole_at_the_start: { targets: PODS.map(() => ({ hole: [600, 280] as const })), isOld: true },
  // A rate of VictoriaMetrics begins at the last sample before the range.
  hole_before_the_start: {
    targets: PODS.map(() => ({ hole: [900, 470] as const })),
    isOld: false,
    isOldOnVictoriaMetrics: true,
  },
  sample_missing_before_the_start: { targets: PODS.map(() => ({ hole: [500, 470] as const })), isOld: false },
  hole_inside: { targets: PODS.map(() => ({ hole: [400, 200] as const })), isOld: false },
  gone: { targets: PODS.map(() => ({ failingFor: 180, isRemoved: true })), isOld: true },
};

const METRICS: Readonly<Record<string, (name: string) => MetricSpec>> = {
  rate: (name) => externalMetric({ query: `sum(rate(${name}[8m]))` }),
  'rate by pod': (name) => ({
    ...cpuMetric,
    type: 'Pods',
    query: `sum by (pod) (rate(${name}{namespace="$namespace", pod=~"$pods"}[8m]))`,
    selector: [],
  }),
};

/** Cases of a query without a range. */
const GAUGE_CASES: Readonly<Record<string, boolean>> = {
  fresh: false,
  late_by_100: false,
  late_by_half: true,
  half_fail: true,
  half_removed: false,
  hole_at_the_start: false,
};

describe.each(['Prometheus', 'VictoriaMetrics'] satisfies readonly ServerName[])(
  'samples of %s',
  (engine) => {
    let server: FilledServer;

    beforeAll(async () => {
      server = await startFilled(engine, Object.entries(CASES).flatMap(seriesOf));
    }, START_MS);

    afterAll(() => server.stop());

    const check = async (metric: MetricSpec): Promise<string | null> => {
      const resourceQueries = {
        cpu: 'sum by (namespace, pod, container) (rate(late_by_half{namespace=~"$namespaces"}[$window]))',
        memory: 'sum by (namespace, pod, container) (fresh{namespace=~"$namespaces"})',
      };
      const flavor = engine === 'Prometheus' ? 'prometheus' : 'victoriametrics';
      const source = aSource({
        urls: [server.url],
        flavor,
        ifVictoriaMetrics: null,
        resourceQueries,
        resourceWindowSeconds: 480,
      });
      const metrics = createMetricSource({
        sources: new Map([['default', source]]),
        clock: realClock,
        onQuery: ({ failure }) => {
          if (failure !== null) throw new Error(failure.message);
        },
      });
      const scaler = due([metric]);
      const round = startRound(metrics, [scaler]);
      const checked = { metrics: new Set([0]), pods: new Set(PODS), mayBeKept: false };
      const [why] = await round.whyOld(scaler, checked);
      return why ?? null;
    };

    describe.each(Object.entries(METRICS))('%s', (kind, metricOf) => {
      it.each(Object.entries(CASES))('%s', async (name, { isOld, isOldByPod, isOldOnVictoriaMetrics }) => {
        const onThis = engine === 'VictoriaMetrics' ? (isOldOnVictoriaMetrics ?? isOld) : isOld;
        const expected = kind === 'rate by pod' ? (isOldByPod ?? onThis) : onThis;
        expect(await check(metricOf(name))).toEqual(expected ? expect.any(String) : null);
      });
    });

    it.each(Object.entries(GAUGE_CASES))('without a range: %s', async (name, isOld) => {
      expect(await check(externalMetric({ query: `sum(${name})` }))).toEqual(
        isOld ? expect.any(String) : null,
      );
    });

    it('names targets, age and interval', async () => {
      expect(await check(cpuMetric)).toMatch(
        /^the value is based on old samples in a range of 8m: the newest sample of 8 of 8 targets is up to 2[3-9]\d s old \(scrape interval 60 s\)$/,
      );
      expect(await check({ ...cpuMetric, name: 'memory', identity: 'memory' })).toBeNull();
    });
  },
);

function seriesOf([name, { targets }]: [
  string,
  { readonly targets: readonly Scraped[] },
]): readonly WrittenSeries[] {
  return targets.flatMap((target, index) => {
    const labels = { job: name, instance: `10.0.0.${index}:80` };
    // The targets of a rollout come first, and their pods are not listed anymore.
    const pod = PODS[index + PODS.length - targets.length] ?? `web-5c3be4-aaaa${index}`;
    return [
      {
        labels: { __name__: name, ...labels, namespace: 'shop', pod, container: 'app' },
        samples: samplesOf(target, (age) => 3000 - age),
      },
      { labels: { __name__: 'up', ...labels }, samples: upOf(target) },
    ];
  });
}

const NOW_SECONDS = Date.now() / 1000;

function agesOf({ from = 2400, to = 3 }: Scraped): readonly number[] {
  const ages: number[] = [];
  for (let age = to + INTERVAL * Math.floor((from - to) / INTERVAL); age >= to; age -= INTERVAL)
    ages.push(age);
  return ages;
}

function samplesOf(target: Scraped, valueOf: (age: number) => number): WrittenSeries['samples'] {
  const { hole = [0, 0], failingFor = null } = target;
  let isMarked = false;
  return agesOf(target).flatMap((age): readonly (readonly [number, number | null])[] => {
    const seconds = NOW_SECONDS - age;
    if (age < hole[0] && age > hole[1]) return [];
    if (failingFor === null || age > failingFor) return [[seconds, valueOf(age)]];
    if (isMarked) return [];
    isMarked = true;
    return [[seconds, null]];
  });
}

function upOf(target: Scraped): WrittenSeries['samples'] {
  const { failingFor = null, isRemoved = false, hasFailed = false } = target;
  if (hasFailed) return upOfRemoved(target);
  if (isRemoved) return samplesOf(target, () => 1);
  return agesOf(target).map((age) => [NOW_SECONDS - age, failingFor !== null && age <= failingFor ? 0 : 1]);
}

/** One failed scrape, then the mark of the end. */
function upOfRemoved({ failingFor, ...target }: Scraped): WrittenSeries['samples'] {
  const since = failingFor ?? 0;
  const before = agesOf(target).filter((age) => age > since);
  const at = (age: number): number => NOW_SECONDS - age;
  return [...before.map((age) => [at(age), 1] as const), [at(since), 0], [at(since - INTERVAL), null]];
}
