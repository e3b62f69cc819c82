import { expect, it } from '@jest/globals';
import { checkPodStart } from '../../../src/cli/checks/pod-start.js';
import type { ScalerFacts } from '../../../src/cli/checks/scaler-facts.js';
import type { ClusterPod } from '../../../src/kubernetes/api/types.js';
import { aPod, aSource, at, scalerOf } from '../../support/builders.js';

const one = (periodSeconds: number): object => ({
  scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds }] },
});

/** Returns the messages for pods that became ready this many seconds after their start. */
function messages(
  starts: readonly (number | null)[],
  {
    range = '1m',
    behavior,
    scrape = 15,
    podStart,
  }: {
    readonly range?: string;
    readonly behavior?: object;
    readonly scrape?: number;
    readonly podStart?: object;
  } = {},
): readonly string[] {
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
  const source = { source: aSource({ scrapeIntervalSeconds: scrape }) };
  const facts = { scaler, cluster: { pods }, sources: new Map([['default', source]]) };
  // Only what the check reads.
  return checkPodStart(facts as unknown as ScalerFacts).map(({ message, fix }) => `${message}; ${fix ?? ''}`);
}

const NONE = ['; '];

it('names a range that is at least twice the start of a pod and four scrape intervals', () => {
  expect(messages([40, 60, 500], { range: '2m' })).toEqual([
    'External metric rps: the range of 120 s is longer than the 60 s in which a pod becomes ready: a rise of the load is seen in full after 120 s, although pods could serve it earlier; shorten the range to four scrape intervals: [60s]',
  ]);
  expect(messages([61], { range: '2m' })).toEqual(NONE);
  expect(messages([5], { range: '119s' })).toEqual(NONE);
});

it('says nothing about a range of 10 s for scrapes of 1 s: the delay is shorter than a sync period of 15 s', () => {
  expect(messages([0], { range: '10s', scrape: 1 })).toEqual(NONE);
  expect(messages([0], { range: '18s', scrape: 1 })).toEqual(NONE);
  expect(messages([0], { range: '19s', scrape: 1 })).not.toEqual(NONE);
});

it('names one pod per period if a pod starts slower', () => {
  expect(messages([142], { behavior: one(60) })).toEqual([
    'scale-up adds one pod per 60 s, and a pod becomes ready in 142 s: from 2 to 12 pods takes 682 s instead of 142 s, while the backlog grows; add a policy, of which the larger change applies: { type: Percent, value: 100, periodSeconds: 60 }',
  ]);
  expect(messages([60], { behavior: one(60) })).toEqual(NONE);
  expect(messages([142], { behavior: {} })).toEqual(NONE);
});

it('leaves podStart.seconds and a scale-up of more than 900 s to the rules of documents, which validate prints', () => {
  const podStart = { seconds: 60 };

  expect(messages([5], { range: '60s', scrape: 5 })).not.toEqual(NONE);
  expect(messages([5], { range: '60s', scrape: 5, podStart: {} })).not.toEqual(NONE);
  expect(messages([5], { range: '2m', scrape: 5, podStart })).toEqual(NONE);
  expect(messages([70], { behavior: one(30), podStart })).toEqual(NONE);
  expect(messages([142], { behavior: one(90) })).not.toEqual(NONE);
  expect(messages([142], { behavior: one(91) })).toEqual(NONE);
});

it('does not say that pods become ready in 0 s: the API server has times of whole seconds', () => {
  expect(messages([0], { range: '60s', scrape: 5 })[0]).toContain('the 1 s in which a pod becomes ready');
});

it('says nothing while no pod is ready', () => {
  expect(messages([null], { range: '1h', behavior: one(60) })).toEqual(NONE);
});
