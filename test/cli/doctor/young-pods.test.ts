import { expect, it } from '@jest/globals';
import type { DoctorReport } from '../../../src/cli/checks/report.js';
import { cluster, clusterOfWeb, diagnosed, document, healthy, metric, prometheus } from './fixture.js';

/** Returns the messages of `pods` and `decision` for two pods of this age that use 150 % of their requests. */
async function messages(podAgeSeconds: number, spec = ''): Promise<readonly string[]> {
  const web = { namespace: 'shop', name: 'web' };
  const simulator = await cluster({ workloads: [{ ...web, replicas: 2, podAgeSeconds }] });
  const { url } = await prometheus(healthy(simulator.describe(web).pods, 0.75));
  const documents = { web: document('web', spec) };
  const report: DoctorReport = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
  const of = (name: string): string => report.results.find(({ check }) => check === name)?.message ?? '';
  return [of('pods'), of('decision')];
}

it('says which ready pods the decision counts as unready, and until when', async () => {
  const [pods, decision] = await messages(60);

  expect(pods).toMatch(
    /^2 of 2 pods ready, 2 of them for less than the window of 120 s: cpu counts these as unready until 20\d\d-\S+Z$/,
  );
  expect(decision).toContain(
    'no sample of any pod that counts (they may be unready); ready pods count from 20',
  );
});

it('says nothing of it for pods of 300 s, the initialization period, or without a metric of cpu', async () => {
  const memory = `  metrics:
    - resource: { name: memory, target: { averageValue: 500Mi } }
`;

  expect((await messages(300))[0]).toBe('2 of 2 pods ready');
  expect((await messages(60, memory))[0]).toBe('2 of 2 pods ready');
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
