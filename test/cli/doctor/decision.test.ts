import { describe, expect, it } from '@jest/globals';
import { cluster, document, diagnosed, healthy, metric, prometheus } from './fixture.js';
import type { Simulator } from '../../../src/simulator/simulator.js';

const ofWeb = (replicas = 2): Promise<Simulator> =>
  cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas }] });

async function annotate(simulator: Simulator, annotations: Readonly<Record<string, string>>): Promise<void> {
  const patched = await fetch(`${simulator.url}/apis/apps/v1/namespaces/shop/deployments/web`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { annotations } }),
  });
  expect(patched.status).toBe(200);
}

describe('decision', () => {
  it('is the one that the service would make now, and nothing is changed', async () => {
    const simulator = await ofWeb();
    const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
    const { url } = await prometheus(healthy(pods, 0.8));

    const { results } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web') },
    });

    expect(results.find(({ check }) => check === 'decision')).toMatchObject({
      status: 'ok',
      message:
        'the current decision, which ignores all windows, is: cpu is at 160 % of the requests, target 80 %: 2 -> 4',
    });
    expect(simulator.describe({ namespace: 'shop', name: 'web' }).replicas).toBe(2);
    expect(simulator.requests().filter(({ method }) => method === 'PATCH')).toEqual([]);
  });

  it.each([
    ['', '; 5 pods would end at once'],
    ['  dryRun: true\n', ' (not applied: spec.dryRun is true); after the dry run, 5 pods would end at once'],
  ])('warns if maxReplicas is below the current replicas: %j', async (spec, effect) => {
    const simulator = await ofWeb(7);
    const { url } = await prometheus([]);

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web', spec).replace('maxReplicas: 12', 'maxReplicas: 2') },
    });

    expect(of('decision')).toMatchObject([
      {
        status: 'warning',
        message: `the current decision, which ignores all windows, is: 7 replicas are above maxReplicas (2): 7 -> 2${effect}, because no window or policy delays this change`,
        fix: 'to keep all pods, set spec.maxReplicas to at least 7',
      },
    ]);
  });

  it('warns if the metrics recommend more than maxReplicas', async () => {
    const simulator = await ofWeb();
    const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
    const { url } = await prometheus(healthy(pods, 0.8));
    const web = document('web').replace('maxReplicas: 12', 'maxReplicas: 3');

    const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents: { web } });

    expect(of('decision')).toMatchObject([
      {
        status: 'warning',
        fix: 'if the metrics are right, raise the maximum of 3; 4 replicas are recommended',
      },
    ]);
  });

  it('reports that a dry run or a pause blocks it', async () => {
    const simulator = await ofWeb();
    const { url } = await prometheus([]);

    const { results } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web', '  dryRun: true\n') },
    });

    expect(results.find(({ check }) => check === 'decision')?.message).toContain(
      '(not applied: spec.dryRun is true)',
    );
  });

  it('says when the fallback counts, which the service may use while it decides without it', async () => {
    const simulator = await ofWeb();
    const { url } = await prometheus([]);
    const fallback = '  fallback: { afterSeconds: 60, replicas: 6 }\n';

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web', `${fallback}${metric('external', 'sum(mails)')}`) },
    });

    expect(of('decision')).toMatchObject([
      {
        status: 'warning',
        message: expect.stringMatching(
          /^the current decision, which ignores all windows and the fallback, is: .*stays at 2$/,
        ),
        fix: expect.stringContaining(
          'a metric without a value for 60 s counts as 6 replicas (spec.fallback)',
        ),
      },
    ]);
  });

  it.each([
    ['', 'kept at 3'],
    ['  dryRun: true\n', 'would be kept at 3 without the dry run'],
  ])('says that a pause keeps a count, unless the document is in dry run: %j', async (spec, kept) => {
    const simulator = await ofWeb();
    await annotate(simulator, { 'promscaler.dev/paused-replicas': '3' });
    const { url } = await prometheus([]);

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web', spec) },
    });

    expect(of('decision')[0]?.message).toContain(`(not applied: scaling is paused by annotation; ${kept})`);
  });

  it.each([
    ['scale-up', '', '(scale-up is not applied: scale-up is paused by annotation; release)'],
    ['scale-down', '', '(applied in spite of the pause: scale-down is paused by annotation; release)'],
    ['scale-down', '  dryRun: true\n', '(not applied: spec.dryRun is true)'],
  ])(
    'warns of a forgotten pause of %s%j, says what it prevents, and how to end it',
    async (paused, spec, hold) => {
      const simulator = await ofWeb();
      await annotate(simulator, {
        'promscaler.dev/paused': paused,
        'promscaler.dev/paused-reason': 'release',
      });
      const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
      const { url } = await prometheus(healthy(pods, 0.8));

      const { of } = await diagnosed({
        prometheus: url,
        kubernetes: simulator.url,
        documents: { web: document('web', spec) },
      });

      expect(of('decision')).toMatchObject([
        {
          status: 'warning',
          message: expect.stringContaining(`2 -> 4 ${hold}`),
          fix: 'if the pause is no longer needed: promscaler resume shop/web',
        },
      ]);
    },
  );

  it('does not say that a change in the other direction than the pause is applied in a conflict', async () => {
    const simulator = await ofWeb();
    await annotate(simulator, { 'promscaler.dev/paused': 'scale-down' });
    const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
    const { url } = await prometheus(healthy(pods, 0.8));

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web'), second: document('second', '  scaleTargetRef: { name: web }\n') },
    });

    expect(of('other-scaler')).toHaveLength(2);
    for (const { message } of of('decision')) expect(message).toMatch(/2 -> 4$/);
  });

  it.each([
    [101, ['warning']],
    [99, []],
  ])('of %d times the target has a question about units, or none yet', async (times, statuses) => {
    const simulator = await ofWeb();
    const { url } = await prometheus([[/http/, times * 10]]);
    const metrics = '  metrics: [{ external: { query: http, target: { value: 10 } } }]\n';

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web', metrics) },
    });

    expect(of('decision').map(({ status }) => status)).toEqual(statuses);
    if (statuses.length > 0) expect(of('decision')[0]?.message).toContain('http is 101 times its target');
  });

  it('warns if a metric has no value', async () => {
    const simulator = await ofWeb();
    const { url } = await prometheus([]);

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web') },
    });

    expect(of('decision')).toMatchObject([{ status: 'warning' }]);
    expect(of('decision')[0]?.message).toContain('stays at 2');
  });

  it('says that a scaler is not active without a time, which only the service knows', async () => {
    const simulator = await ofWeb(4);
    const { url } = await prometheus([[/http/, 0]]);
    const metrics =
      '  metrics: [{ external: { query: http, target: { averageValue: 10 }, activation: { above: 0 } } }]\n';
    const text = document('web', metrics).replace('minReplicas: 1', 'minReplicas: 0');

    const { results } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: text },
    });

    const message = results.find(({ check }) => check === 'decision')?.message;
    expect(message).toMatch(/; not active \(http is 0, not above its activation threshold of 0\)/);
    expect(message).not.toContain('since');
  });

  it('has no warning for a workload at 0 replicas, which the service leaves alone', async () => {
    const simulator = await ofWeb(0);
    const { url } = await prometheus([]);

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: document('web') },
    });

    expect(of('decision')).toEqual([]);
  });

  const zero = '  minReplicas: 0\n';
  const behavior = (direction: string): string =>
    `  behavior: { ${direction}: { stabilizationWindowSeconds: 600, policies: [{ type: Pods, value: 50, periodSeconds: 60 }] } }\n`;

  it.each([
    ['the default stabilization', 5, ''],
    ['no stabilization', 5, '  downscaleStabilizationSeconds: 0\n'],
    ['a window of behavior', 5, behavior('scaleDown')],
    ['a forbidden window', 5, '  downscaleStabilizationSeconds: 0\n  downscaleForbiddenWindowSeconds: 300\n'],
    ['a confirmation', 5, '  downscaleStabilizationSeconds: 0\n  downscaleConfirmation: {}\n'],
    ['a forbidden window for scale-ups', 60, '  upscaleForbiddenWindowSeconds: 300\n'],
    ['a window of behavior for scale-ups', 60, behavior('scaleUp')],
    ['a cooldown', 0, zero],
  ])('is held by no window that would start now: %s', async (_, load, spec) => {
    const simulator = await ofWeb(4);
    const { url } = await prometheus([[/http/, load]]);
    const activation = spec === zero ? ', activation: { above: 0 }' : '';
    const text = document(
      'web',
      `${spec}  metrics: [{ external: { query: http, target: { averageValue: 10 }${activation} } }]\n`,
    );
    const documents = { web: spec === zero ? text.replace('  minReplicas: 1\n', '') : text };

    const { results } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });

    const wanted = { 0: 0, 5: 1, 60: 6 }[load] ?? -1;
    expect(results.find(({ check }) => check === 'decision')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(
        new RegExp(`^the current decision, which ignores all windows, is: .*4 -> ${wanted}\\b`),
      ),
    });
  });
});
