import { expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import {
  EVERY_5_S,
  cluster,
  clusterOfWeb,
  diagnosed,
  document,
  healthy,
  metric,
  prometheus,
  type Scripted,
} from './fixture.js';

/** Returns the results of `pods` and `decision` for two pods of this age that use 150 % of their requests. */
async function resultsOf(
  podAgeSeconds: number,
  { spec = '', script = [] }: { readonly spec?: string; readonly script?: readonly Scripted[] } = {},
): Promise<readonly (CheckResult | undefined)[]> {
  const web = { namespace: 'shop', name: 'web' };
  const simulator = await cluster({ workloads: [{ ...web, replicas: 2, podAgeSeconds }] });
  const { url } = await prometheus([...script, ...healthy(simulator.describe(web).pods, 0.75)]);
  const documents = { web: document('web', spec) };
  const { results } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
  return ['pods', 'decision'].map((name) => results.find(({ check }) => check === name));
}

async function messages(podAgeSeconds: number, spec = ''): Promise<readonly string[]> {
  const results = await resultsOf(podAgeSeconds, { spec });
  return results.map((result) => result?.message ?? '');
}

it('counts pods as the service does if resourceWindowSeconds is unset: after 20 s and one scrape, not 120 s', async () => {
  const [pods, decision] = await resultsOf(60, { script: [EVERY_5_S] });

  expect(pods?.message).toBe('2 of 2 pods are ready');
  expect(decision).toMatchObject({
    status: 'ok',
    message:
      'the current decision, which ignores all windows, is: cpu is at 150 % of the requests, target 80 %: 2 -> 4',
  });
});

it('asks to wait if only the age of the pods keeps a metric from a value, without problems above', async () => {
  const [, decision] = await resultsOf(60);
  const [, from = ''] = /ready pods count from (\S+) on/.exec(decision?.message ?? '') ?? [];

  expect(Date.parse(from)).toBeGreaterThan(Date.now());
  expect(decision).toMatchObject({
    status: 'warning',
    fix: 'wait until the metrics count all ready pods, and run this command again; until then, a metric without a value triggers no scaling',
  });
});

it('refers to the problems above only if the scaler or its data source has one', async () => {
  const [, decision] = await resultsOf(600, {
    script: [[/^sum by \(namespace, pod, container\) \(rate/, []]],
  });

  expect(decision).toMatchObject({
    status: 'warning',
    fix: expect.stringMatching(/^see the problems above:/),
  });
});

it('says which ready pods the decision counts as unready, and until when', async () => {
  const [pods, decision] = await messages(60);

  expect(pods).toMatch(
    /^2 of 2 pods are ready; when the cpu usage was measured, 2 of the ready pods had been ready for less than the window of 120 s, so the metric cpu counts these pods as unready until 20\d\d-\S+Z$/,
  );
  expect(decision).toContain(
    'no pod that counts has a sample (pods that are not ready may be excluded); ready pods count from 20',
  );
});

it('says nothing of it for pods of 300 s, the initialization period, or without a metric of cpu', async () => {
  const memory = `  metrics:
    - resource: { name: memory, target: { averageValue: 500Mi } }
`;

  expect((await messages(300))[0]).toBe('2 of 2 pods are ready');
  expect((await messages(60, memory))[0]).toBe('2 of 2 pods are ready');
});

it('asks to wait for the second scrape of series that are younger than the range, not for a longer range', async () => {
  const { simulator, pods } = await clusterOfWeb();
  const of = async (before: number | null): Promise<string> => {
    const { url } = await prometheus([
      [/^count\(http\)$/, 1],
      ...(before === null ? [] : [[/^count\(http offset 2m\)$/, before] as const]),
      ...healthy(pods),
    ]);
    const documents = { web: document('web', metric('external', 'sum(rate(http[2m]))')) };
    const report = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
    const [found] = report.of('query');
    return `${found?.message ?? ''} ${found?.fix ?? ''}`;
  };

  expect(await of(null)).toMatch(
    /only series that are younger than \[2m\] .* try again after two more scrapes/,
  );
  expect(await of(1)).toMatch(/too few samples in \[2m\], .* make the range longer/);
});
