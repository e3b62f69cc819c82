import { expect, it } from '@jest/globals';
import { POD_START_OF } from '../../../src/control/memory/pod-starts.js';
import { checkPodStart } from '../../../src/cli/checks/pod-start.js';
import type { SourceContext } from '../../../src/cli/checks/context.js';
import type { ScalerFacts } from '../../../src/cli/checks/scaler-facts.js';
import type { ClusterPod } from '../../../src/kubernetes/api/types.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { aPod, aSource, at, scalerOf } from '../../support/builders.js';
import { resultsOf, type Checked } from '../../../src/cli/checks/check-result.js';

const one = (periodSeconds: number): { readonly scaleUp: object } => ({
  scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds }] },
});

/** The timestamps of a series that is scraped every `scrape` seconds; null: there are none. */
function seriesOf(scrape: number | null): Pick<SourceContext, 'runQuery' | 'probe'> {
  const times = Array.from({ length: 20 }, (_, index) => [index * (scrape ?? 0), '1']);
  const labels = { __name__: 'requests_total', pod: 'web-0' };
  return {
    // Only what the check reads.
    runQuery: () =>
      Promise.resolve(
        (scrape === null
          ? { class: 'missing' }
          : { class: 'value', series: [{ labels }] }) as unknown as Answer,
      ),
    probe: () =>
      Promise.resolve({
        class: 'answered',
        body: JSON.stringify({ data: { result: [{ values: times }] } }),
      } as unknown as Awaited<ReturnType<SourceContext['probe']>>),
  };
}

/** Returns the messages for pods that became ready this many seconds after their start. */
async function messages(
  starts: readonly (number | null)[],
  {
    range = '1m',
    behavior,
    scrape = 15,
    configured = 30,
    podStart,
  }: {
    readonly range?: string;
    readonly behavior?: object;
    readonly scrape?: number | null;
    /** `scrapeIntervalSeconds` of the data source. */
    readonly configured?: number;
    readonly podStart?: object;
  } = {},
): Promise<readonly string[]> {
  const scaler = scalerOf({
    scaleTargetRef: { name: 'web' },
    minReplicas: 2,
    maxReplicas: 12,
    metrics: [
      {
        external: {
          metric: { name: 'rps' },
          query: `sum(rate(requests_total[${range}]))`,
          target: { averageValue: 50 },
        },
      },
    ],
    ...(behavior === undefined ? {} : { behavior }),
    ...(podStart === undefined ? {} : { podStart }),
  });
  const pods = starts.map((seconds, index): { readonly pod: ClusterPod } => {
    const ready = seconds === null ? { ready: false } : { ready: true, readyChangedAt: at(seconds) };
    return { pod: aPod(`web-${index}`, { startTime: at(0), ...ready }) };
  });
  const source = { source: aSource({ scrapeIntervalSeconds: configured }), ...seriesOf(scrape) };
  const make = resultsOf('pod-start', 'shop/web');
  const facts = { scaler, cluster: { pods }, sources: new Map([['default', source]]), make };
  // Only what the check reads.
  const results = [await checkPodStart(facts as unknown as Checked<ScalerFacts>)].flat();
  return results.map(({ message, fix }) => `${message}; ${fix ?? ''}`);
}

const NONE = ['; '];

it('names a range that is at least twice the start of a pod and four scrape intervals', async () => {
  expect(await messages([40, 60, 4000], { range: '2m' })).toEqual([
    'External metric rps: the range of 120 s is longer than the 60 s in which 95 % of the pods became ready after their start on a node: the metric shows a rise of the load in full only after 120 s, although new pods could serve the load earlier; shorten the range to four scrape intervals: [60s], unless samples arrive late, for which a short range leaves less time (check sample-age)',
  ]);
  expect(await messages([61], { range: '2m' })).toEqual(NONE);
  expect(await messages([5], { range: '119s' })).toEqual(NONE);
});

it('takes the interval of the series, whatever scrapeIntervalSeconds is, and names that one only without a series', async () => {
  for (const configured of [5, 30])
    expect(await messages([5], { range: '60s', scrape: 15, configured })).toEqual(NONE);
  for (const configured of [5, 30])
    expect((await messages([5], { range: '60s', scrape: 5, configured }))[0]).toMatch(
      /; shorten the range to four scrape intervals: \[20s\], unless samples arrive late, for which a short range leaves less time \(check sample-age\)$/,
    );
  expect((await messages([5], { range: '60s', scrape: null, configured: 5 }))[0]).toMatch(
    /; shorten the range to four scrape intervals of 5 s \(scrapeIntervalSeconds, because none was measured\): \[20s\], unless samples arrive late, for which a short range leaves less time \(check sample-age\)$/,
  );
});

it('says nothing about a range of 10 s for scrapes of 1 s: the delay is shorter than a sync period of 15 s', async () => {
  expect(await messages([0], { range: '10s', scrape: 1 })).toEqual(NONE);
  expect(await messages([0], { range: '18s', scrape: 1 })).toEqual(NONE);
  expect(await messages([0], { range: '19s', scrape: 1 })).not.toEqual(NONE);
});

it('measures the start as decisions and explain do: 61 s of 20 pods, of which one took 100 s', async () => {
  const starts = [...Array.from({ length: 18 }, () => 30), 61, 100];

  expect((await messages(starts, { range: '10m' }))[0]).toContain(` than the 61 s ${POD_START_OF}: `);
});

it('names one pod per period if a pod starts slower', async () => {
  expect(await messages([142], { behavior: one(60) })).toEqual([
    '95 % of the pods became ready within 142 s of their start on a node, but scale-up adds only one pod per 60 s. Scaling from 2 to 12 pods takes 682 s instead of 142 s, and the backlog grows in that time; add a policy (the larger change applies): { type: Percent, value: 100, periodSeconds: 60 }',
  ]);
  expect(await messages([60], { behavior: one(60) })).toEqual(NONE);
  expect(await messages([142], { behavior: {} })).toEqual(NONE);
});

it('also advises selectPolicy: Max instead of Min, and says nothing about Disabled', async () => {
  const select = (selectPolicy: string): Promise<readonly string[]> =>
    messages([142], { behavior: { scaleUp: { ...one(60).scaleUp, selectPolicy } } });

  expect((await select('Min'))[0]).toContain('; set selectPolicy: Max and add a policy (the larger change ');
  expect(await select('Disabled')).toEqual(NONE);
});

it('leaves podStart.seconds and a scale-up of more than 900 s to the rules of documents, which validate prints', async () => {
  const podStart = { seconds: 60 };

  expect(await messages([5], { range: '60s', scrape: 5 })).not.toEqual(NONE);
  expect(await messages([5], { range: '60s', scrape: 5, podStart: {} })).not.toEqual(NONE);
  expect(await messages([5], { range: '2m', scrape: 5, podStart })).toEqual(NONE);
  expect(await messages([70], { behavior: one(30), podStart })).toEqual(NONE);
  expect(await messages([142], { behavior: one(90) })).not.toEqual(NONE);
  expect(await messages([142], { behavior: one(91) })).toEqual(NONE);
});

it('does not say that pods become ready in 0 s: the API server has times of whole seconds', async () => {
  expect((await messages([0], { range: '60s', scrape: 5 }))[0]).toContain(`the 1 s ${POD_START_OF}`);
});

it('says nothing while no pod is ready', async () => {
  expect(await messages([null], { range: '1h', behavior: one(60) })).toEqual(NONE);
});
