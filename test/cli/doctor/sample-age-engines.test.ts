import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FilledServer, type ServerName, startFilled } from '../../support/filled-server.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import { clusterOfWeb, diagnosed, document, metric } from './fixture.js';

/*
 * Real servers with the samples that pods leave behind when they start or end. All ages are stretched, so that a test
 * that waits for a processor sees the same.
 */

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
/** The scrape interval, and how much longer it and all other ages are in the servers. */
const INTERVAL = 60;
const STRETCH = 2;

/** The ages in seconds at which a series has samples, each with its value; null: the mark of the end. */
type Written = readonly (readonly [age: number, value: number | null])[];

interface Scraped {
  readonly up: Written;
  readonly samples: Written;
  /** Series of another namespace that the same target exposes. */
  readonly others?: Written;
}

/** Returns samples of this value every 60 s between two ages. */
function every(from: number, to: number, value = 1): Written {
  const count = Math.floor((from - to) / INTERVAL) + 1;
  return Array.from({ length: count }, (_, index) => [to + (count - 1 - index) * INTERVAL, value] as const);
}

const scraped = (from: number, to: number): Scraped => ({ up: every(from, to), samples: every(from, to) });
const LIVE = scraped(2403, 3);
const MARK = [40, null] as const;

const LAST_FAILED: Scraped = {
  up: [...every(2420, 80), [20, 0]],
  samples: [...every(2420, 80), [20, null]],
};

/** The third target next to two live ones, unless the case has others. */
const STARTED_OR_ENDED: Readonly<Record<string, Scraped>> = {
  'has started, and its first scrapes failed': {
    up: [...every(303, 123, 0), ...every(63, 3)],
    samples: every(63, 3),
  },
  'has started, and no scrape has succeeded yet': { up: every(183, 3, 0), samples: [] },
  'has ended, and its series are not yet marked': scraped(2420, 110),
  'has ended, and its last scrape failed': LAST_FAILED,
  'has ended after a failed scrape, and is not scraped anymore': {
    up: [...every(2440, 160), [100, 0]],
    samples: [...every(2440, 160), [100, null]],
  },
  'has ended, and its series are marked': {
    up: [...every(2400, 100), MARK],
    samples: [...every(2400, 100), MARK],
  },
};

/** Of cAdvisor, whose samples have timestamps of their own and get no mark. */
const CONTAINERS: Readonly<Record<string, Scraped>> = {
  'the pod of a node has ended': { ...LIVE, samples: every(2410, 130), others: every(2403, 3) },
  'a node has ended': { up: [...every(2410, 130), [70, null]], samples: every(2410, 130) },
};

/** Of workloads whose only pod has ended, next to the targets of other jobs. */
const ONLY_PODS: Readonly<Record<string, Scraped>> = {
  'whose series are not yet marked': STARTED_OR_ENDED['has ended, and its series are not yet marked'] ?? LIVE,
  'whose series are marked': STARTED_OR_ENDED['has ended, and its series are marked'] ?? LIVE,
  'of a node': CONTAINERS['the pod of a node has ended'] ?? LIVE,
};

const PROBLEMS: Readonly<Record<string, readonly Scraped[]>> = {
  'scrapes of one of three targets fail': [
    LIVE,
    LIVE,
    { up: [...every(2403, 243), ...every(183, 3, 0)], samples: [...every(2403, 243), [183, null]] },
  ],
  'all targets are late': [1, 2, 3].map(() => scraped(2415, 135)),
  'the only target of a Prometheus server has not been scraped for 380 s': [scraped(2410, 190)],
  'the targets of one of two Prometheus servers are late': [
    LIVE,
    LIVE,
    scraped(2415, 135),
    scraped(2415, 135),
  ],
  'one of three targets has old timestamps': [LIVE, LIVE, { ...LIVE, samples: every(2410, 130) }],
  'the last scrapes of all targets failed': [1, 2, 3].map(() => LAST_FAILED),
  'one of three targets fails every second scrape': [
    LIVE,
    LIVE,
    {
      up: every(2403, 3).map(([age], index) => [age, index % 2]),
      samples: every(2403, 3).map(([age], index) => [age, index % 2 === 0 ? null : 1]),
    },
  ],
};

const CASES = [
  ...Object.entries(STARTED_OR_ENDED).map(([name, target]) => ({
    name: `a pod ${name}`,
    targets: [LIVE, LIVE, target],
    status: 'ok',
  })),
  ...Object.entries(CONTAINERS).map(([name, target]) => ({
    name,
    targets: [LIVE, LIVE, target],
    status: 'ok',
  })),
  ...Object.entries(ONLY_PODS).map(([name, target]) => ({
    name: `the only pod has ended, ${name}`,
    targets: [target],
    status: 'skipped',
  })),
  ...Object.entries(PROBLEMS).map(([name, targets]) => ({ name, targets, status: 'failed' })),
  {
    name: 'the only pod ended 15 minutes ago',
    targets: [{ up: [...every(2450, 470), [440, null]], samples: [...every(2450, 470), [440, null]] }],
    range: '30m',
    status: 'skipped',
  } as const,
].map((one, index) => ({
  range: '8m',
  ...one,
  series: `${/\bnode\b/.test(one.name) ? 'container' : 'http'}_${index}_total`,
}));

describe.each(['Prometheus', 'VictoriaMetrics'] satisfies readonly ServerName[])(
  'sample-age of %s',
  (engine) => {
    let server: FilledServer;
    let kubernetes: string;

    beforeAll(async () => {
      // Programs that are downloaded first would age the samples.
      await (await startFilled(engine, [])).stop();
      server = await startFilled(engine, seriesAt(Date.now() / 1000));
      kubernetes = (await clusterOfWeb()).simulator.url;
    }, START_MS);

    afterAll(() => server.stop());

    it.each(CASES)('is $status: $name', async ({ series, range, status }) => {
      const query = `sum(rate(${series}{namespace="shop"}[${range}]))`;
      const documents = { web: document('web', metric('external', query)) };
      const { results } = await diagnosed({ prometheus: server.url, kubernetes, documents });

      expect(results.filter(({ check }) => check === 'sample-age')).toMatchObject([{ status }]);
    });
  },
);

function seriesAt(nowSeconds: number): readonly WrittenSeries[] {
  return CASES.flatMap((one) => seriesOf(one, nowSeconds));
}

function seriesOf(
  { series, targets }: { readonly series: string; readonly targets: readonly Scraped[] },
  nowSeconds: number,
): readonly WrittenSeries[] {
  return targets.flatMap(({ up, samples, others = [] }, index) => {
    const labels = { job: series, instance: `10.0.0.${index}:80` };
    const write = (name: string, written: Written, more: object = {}): readonly WrittenSeries[] =>
      written.length === 0
        ? []
        : [
            {
              labels: { __name__: name, ...labels, ...more },
              samples: written.map(([age, value]) => [nowSeconds - STRETCH * age, value]),
            },
          ];
    return [
      ...write('up', up),
      ...write(series, samples, { namespace: 'shop' }),
      ...write(series, others, { namespace: 'other' }),
    ];
  });
}
