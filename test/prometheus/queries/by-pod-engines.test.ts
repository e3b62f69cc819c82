import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isByPod } from '../../../src/promql/by-pod.js';
import {
  joinPatterns,
  type PodsPattern,
  patternText,
  podsPatternOf,
} from '../../../src/promql/pods-pattern.js';
import { substitute } from '../../../src/promql/variables.js';
import { type FilledServer, type ServerName, startFilled } from '../../support/filled-server.js';
import { randomRuns } from '../../support/random-runs.js';
import type { WrittenSeries } from '../../support/remote-write.js';

/*
 * A real server evaluates random queries: for several workloads at once it returns what it returns for each of them.
 */

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const NOW_SECONDS = Math.floor(Date.now() / 1000);
const WORKLOADS = ['web', 'web-api', 'db'].map((name) => podsPatternOf('Deployment', name));
const PODS = ['web', 'web-api', 'db', 'other'].flatMap((name) => [
  `${name}-6d4cf5-x7k2p`,
  `${name}-6d4cf5-bbbbb`,
]);
const NAMESPACES = ['shop', 'pay'];

/** The last pod of `db` has `y` twice, so that some operators fail for it. */
const SERIES: readonly WrittenSeries[] = PODS.flatMap((pod, index) => {
  const ofPod = (labels: Readonly<Record<string, string>>, step: number): WrittenSeries => ({
    labels: { ...labels, pod },
    samples: Array.from({ length: 20 }, (_, at) => [NOW_SECONDS - 15 * (20 - at), at * step] as const),
  });
  return NAMESPACES.flatMap((namespace, at) => [
    ...['app', 'proxy'].map((container, which) =>
      ofPod({ __name__: 'x', namespace, container }, index + 10 * at + which),
    ),
    ...['1', '5', '+Inf'].map((le, which) =>
      ofPod({ __name__: 'x_bucket', namespace, le }, (index + 1) * (which + 1)),
    ),
    ...(index % 3 === 0 ? [] : [ofPod({ __name__: 'y', namespace, node: `n${index % 2}` }, 2)]),
    ...(pod === 'db-6d4cf5-bbbbb' ? [ofPod({ __name__: 'y', namespace, node: 'n9' }, 3)] : []),
  ]);
});

const SELECTORS = ['pod=~"$pods"', 'namespace="shop", pod=~"$pods"', 'namespace="shop"'];
const selector = fc
  .tuple(fc.constantFrom('x', 'y', 'x_bucket'), fc.constantFrom(...SELECTORS.slice(0, 2), ...SELECTORS))
  .map(([metric, matchers]) => `${metric}{${matchers}}`);
const grouping = fc.constantFrom(
  'by (pod)',
  'by (pod)',
  'by (namespace, pod)',
  'by (le, pod)',
  'without (container)',
  'by (namespace)',
  '',
);
const matching = fc.constantFrom(
  '',
  'on (pod)',
  'on (namespace, pod)',
  'ignoring (node, container)',
  'on (pod) group_left ()',
);
const { query } = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    selector,
    selector.map((of) => `rate(${of}[2m])`),
    selector.map((of) => `max_over_time(${of}[1m])`),
    fc
      .tuple(fc.constantFrom('sum', 'avg', 'max', 'count', 'group'), grouping, tie('query'))
      .map(([name, by, of]) => `${name} ${by} (${of})`),
    fc
      .tuple(fc.constantFrom('topk', 'quantile'), grouping, tie('query'))
      .map(([name, by, of]) => `${name} ${by} (1, ${of})`),
    tie('query').map((of) => `histogram_quantile(0.9, ${of})`),
    tie('query').map((of) => `clamp_min(${of}, 3)`),
    tie('query').map((of) => `-(${of})`),
    tie('query').map((of) => `max_over_time((${of})[1m:15s])`),
    tie('query').map((of) => `absent(${of})`),
    tie('query').map((of) => `(${of}) / 7`),
    tie('query').map((of) => `(${of}) > 5`),
    fc
      .tuple(tie('query'), fc.constantFrom('/', '+', '>', 'and', 'or', 'unless'), matching, tie('query'))
      .map(([left, operator, on, right]) => `(${left}) ${operator} ${on} (${right})`),
  ),
}));

type Result = ReadonlyMap<string, number>;

/** Returns the value of each series, by its labels; null: the server rejects the query. */
async function ask(url: string, query: string): Promise<Result | null> {
  const form = new URLSearchParams({ query, time: String(NOW_SECONDS - 5), nocache: '1' });
  const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body: form });
  const { data } = (await response.json()) as {
    readonly data?: {
      readonly result: readonly {
        readonly metric: Record<string, string>;
        readonly value: [number, string];
      }[];
    };
  };
  if (data === undefined) return null;
  return new Map(
    data.result.map(({ metric, value }) => [
      JSON.stringify(Object.entries(metric).toSorted()),
      Number(value[1]),
    ]),
  );
}

/** Sums may be added in another order. */
function isNear(value: number, other = -1): boolean {
  return Object.is(value, other) || Math.abs(value - other) <= 1e-9 * Math.abs(value);
}

const PATTERNS: readonly (readonly PodsPattern[])[] = [WORKLOADS, ...WORKLOADS.map((one) => [one])];

describe.each<ServerName>(['Prometheus', 'VictoriaMetrics'])('%s', (name) => {
  let server: FilledServer;
  beforeAll(async () => {
    server = await startFilled(name, SERIES);
  }, START_MS);
  afterAll(async () => {
    await server.stop();
  });

  it('returns for several workloads what it returns for each', async () => {
    let compared = 0;
    let rejected = 0;
    await fc.assert(
      fc.asyncProperty(query.filter(isByPod), async (written) => {
        const [whole, ...each] = await Promise.all(
          PATTERNS.map((patterns) => ask(server.url, substitute(written, { pods: joinPatterns(patterns) }))),
        );
        if (whole == null || each.includes(null)) {
          rejected += 1;
          expect([written, whole, each.includes(null)]).toEqual([written, null, true]);
          return;
        }
        const together = new Map(each.flatMap((one) => [...(one ?? [])]));
        compared += whole.size === 0 ? 0 : 1;
        expect([written, [...whole.keys()].toSorted()]).toEqual([written, [...together.keys()].toSorted()]);
        for (const [labels, value] of whole)
          expect([labels, isNear(value, together.get(labels))]).toEqual([labels, true]);
      }),
      randomRuns(1, 500),
    );

    expect(compared).toBeGreaterThan(40);
    expect(rejected).toBeGreaterThan(0);
  });

  it('returns something else for queries that are not by pod', async () => {
    const [whole, ...each] = await Promise.all(
      PATTERNS.map((patterns) =>
        ask(server.url, substitute('sum(x{pod=~"$pods"})', { pods: joinPatterns(patterns) })),
      ),
    );

    expect(new Set([whole, ...each].flatMap((one) => [...(one?.values() ?? [])])).size).toBe(4);
    expect(WORKLOADS.map(patternText)).toHaveLength(3);
  });
});
