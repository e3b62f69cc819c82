import { describe, expect, it } from '@jest/globals';
import { SCALED_OBJECTS } from '../../../src/cli/demo/documents.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { send } from '../../simulator/cluster.js';
import { cluster, document, type Diagnosis, diagnosed, healthy, prometheus } from './fixture.js';

async function diagnose(
  simulator: Simulator,
  documents: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Diagnosis> {
  const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
  const { url } = await prometheus(healthy(pods));
  return diagnosed({ prometheus: url, kubernetes: simulator.url, documents, args });
}

it('other-scaler succeeds for a dry run next to a document that scales, and names it', async () => {
  const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });

  const { results } = await diagnose(simulator, {
    trial: document('trial', '  scaleTargetRef: { name: web }\n  dryRun: true\n'),
    web: document('web'),
  });

  const found = results.filter(({ check }) => check === 'other-scaler');
  expect(found.map(({ status, message }) => `${status} ${message}`)).toEqual([
    'ok dry run next to Scaler shop/web: delete one of the two autoscalers before the dry run ends',
    'ok ',
  ]);
});

describe('a dry run of a document that was made from an HPA, which is gone', () => {
  const adopted = (spec: string, kind = 'HorizontalPodAutoscaler'): string =>
    document('web', spec).replace(
      'namespace: shop }',
      `namespace: shop, annotations: { promscaler.dev/adopted-from: ${kind}/web-hpa } }`,
    );
  const failuresOf = async (spec: string, args: readonly string[] = [], kind?: string) => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    const report = await diagnose(simulator, { web: adopted(spec, kind) }, args);
    return { exitCode: report.exitCode, found: report.of('other-scaler') };
  };

  it('fails, because nothing scales the workload, and names the command that switches', async () => {
    const { exitCode, found } = await failuresOf('  dryRun: true\n');

    expect(exitCode).toBe(1);
    expect(found).toMatchObject([
      {
        status: 'failed',
        message:
          'the scaler is in dry run, and nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa no longer scales it',
        fix: 'with the document in the cluster: promscaler adopt hpa/web-hpa -n shop --switch; or in a file, remove spec.dryRun',
      },
    ]);
  });

  it('names the end of a pause by annotation before the switch', async () => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    await send(simulator, 'PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', {
      body: { metadata: { annotations: { 'promscaler.dev/paused': 'true' } } },
    });

    const report = await diagnose(simulator, { web: adopted('  dryRun: true\n') });

    expect(report.of('other-scaler')).toMatchObject([
      {
        status: 'failed',
        fix: 'with the document in the cluster: promscaler resume shop/web, then promscaler adopt hpa/web-hpa -n shop --switch; or in a file, remove spec.dryRun',
      },
    ]);
  });

  it('fails for a ScaledObject and for a dry run of the service, and not without a dry run', async () => {
    const scaledObject = await failuresOf('  dryRun: true\n', [], 'ScaledObject');
    const ofService = await failuresOf('', ['--dry-run']);
    const live = await failuresOf('');

    expect(scaledObject.found).toMatchObject([
      {
        message:
          'the scaler is in dry run, and nothing scales deployment shop/web: ScaledObject shop/web-hpa does not exist',
        fix: 'with the document in the cluster: promscaler adopt scaledobject/web-hpa -n shop --switch; or in a file, remove spec.dryRun',
      },
    ]);
    expect(ofService.found[0]?.fix).toBe('start the service without --dry-run');
    expect(live.found).toEqual([]);
  });

  it('does not advise a switch if the workload does not exist, which another check reports', async () => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    const gone = adopted('  scaleTargetRef: { name: gone }\n  dryRun: true\n');

    const { results, of } = await diagnose(simulator, { gone });

    expect(of('target')).toMatchObject([{ status: 'failed' }]);
    expect(of('other-scaler')).toMatchObject([
      { status: 'skipped', message: 'the target cannot be read', fix: null },
    ]);
    expect(results.filter(({ fix }) => fix?.includes('--switch'))).toEqual([]);
  });

  const withHpa = async (): Promise<Simulator> => {
    const simulator = await cluster({
      workloads: ['web', 'api'].map((name) => ({ namespace: 'shop', name, replicas: 2 })),
    });
    simulator.addObject({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web-hpa', namespace: 'shop' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' },
        maxReplicas: 5,
        metrics: [],
      },
      status: { desiredReplicas: 2 },
    });
    return simulator;
  };

  it.each(['  dryRun: true\n', ''])('warns if the HPA has another target: %p', async (spec) => {
    const simulator = await withHpa();

    const found = (await diagnose(simulator, { web: adopted(spec) })).of('other-scaler');

    expect(found).toMatchObject([
      {
        status: 'warning',
        message:
          'the document was made from HorizontalPodAutoscaler shop/web-hpa and has the target deployment shop/web, but HorizontalPodAutoscaler shop/web-hpa scales deployment shop/api',
        fix: 'correct spec.scaleTargetRef; or if the two no longer belong together, remove the annotation promscaler.dev/adopted-from',
      },
    ]);
  });

  it('names the target of the HPA for a target that does not exist', async () => {
    const simulator = await withHpa();
    const gone = adopted('  scaleTargetRef: { name: apo }\n  dryRun: true\n');

    const { of } = await diagnose(simulator, { gone });

    expect(of('target')).toMatchObject([
      {
        message:
          'deployment shop/apo does not exist, but HorizontalPodAutoscaler shop/web-hpa, from which the document was made, scales deployment shop/api',
        fix: 'spec.scaleTargetRef.name: api',
      },
    ]);
  });

  it('says for a ScaledObject without an HPA that it exists, or that it may not, if reading it is forbidden', async () => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    simulator.addObject(SCALED_OBJECTS);
    simulator.addObject({
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name: 'web-hpa', namespace: 'shop' },
    });
    const web = adopted('  dryRun: true\n', 'ScaledObject');

    const existing = (await diagnose(simulator, { web })).of('other-scaler');
    simulator.faults.add(
      { verbs: ['get'], resource: 'scaledobjects' },
      { kind: 'refuse', status: 403, reason: 'Forbidden' },
    );
    const forbidden = (await diagnose(simulator, { web })).of('other-scaler');

    const start =
      'the scaler is in dry run, and nothing scales deployment shop/web: ScaledObject shop/web-hpa';
    const describeIt = 'kubectl describe -n shop scaledobject web-hpa; or with the document in the cluster:';
    const adopt = 'promscaler adopt scaledobject/web-hpa -n shop';
    expect(existing).toMatchObject([
      {
        message: `${start} has no HPA: KEDA has not created one`,
        fix: `${describeIt} ${adopt} --switch --force; or in a file, remove spec.dryRun`,
      },
    ]);
    // The ScaledObject may be paused, which only a reader of ScaledObjects sees.
    expect(forbidden).toMatchObject([
      { message: `${start} does not exist or has no HPA`, fix: `${describeIt} ${adopt} --report` },
    ]);
  });

  it('names each pause of a ScaledObject in KEDA, and never a switch, which would end the pause', async () => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    simulator.addObject(SCALED_OBJECTS);
    const keys = ['autoscaling.keda.sh/paused', 'autoscaling.keda.sh/paused-replicas'];
    simulator.addObject({
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: {
        name: 'web-hpa',
        namespace: 'shop',
        annotations: Object.fromEntries(keys.map((key) => [key, '4'])),
      },
    });
    const resultOf = async (spec: string, args: readonly string[] = []) => {
      const report = await diagnose(simulator, { web: adopted(spec, 'ScaledObject') }, args);
      return report.of('other-scaler');
    };

    const dryRun = await resultOf('  dryRun: true\n');
    const ofService = await resultOf('', ['--dry-run']);
    const both = await resultOf('  dryRun: true\n  paused: true\n');

    const why = `nothing scales deployment shop/web: ScaledObject shop/web-hpa is paused in KEDA (annotations ${keys.join(', ')})`;
    const fix = `kubectl annotate -n shop scaledobject web-hpa ${keys.map((key) => `${key}-`).join(' ')}`;
    const failed = { status: 'failed', message: `the scaler is in dry run, and ${why}`, fix };
    expect([dryRun, ofService]).toMatchObject([[failed], [failed]]);
    expect(both).toMatchObject([
      {
        status: 'warning',
        message: `the scaler is paused, and ${why}`,
        fix: `to end both pauses: remove spec.paused; and ${fix}`,
      },
    ]);
  });

  it('does not fail while the document is paused, like the ScaledObject that it was made from', async () => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    const text = adopted('  dryRun: true\n  paused: true\n', 'ScaledObject');

    const { exitCode, results, of } = await diagnose(simulator, { web: text });

    expect(exitCode).toBe(0);
    expect(results.filter(({ check }) => check === 'other-scaler')).toMatchObject([
      {
        status: 'ok',
        message:
          'the scaler is paused, and nothing scales deployment shop/web: ScaledObject shop/web-hpa does not exist',
      },
    ]);
    expect(of('decision')).toMatchObject([
      { status: 'warning', fix: 'if the pause is no longer needed: remove spec.paused from the document' },
    ]);
  });
});

describe('other-scaler with a dry run', () => {
  const HELD = {
    desiredReplicas: 5,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1m' } } }],
    lastScaleTime: '2026-01-01T00:00:00Z',
  };
  const nextToHpa = async (status: JsonObject, replicas = 2): Promise<Simulator> => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas }] });
    simulator.addObject({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { namespace: 'shop', name: 'web-hpa' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
      status,
    });
    return simulator;
  };
  const messagesOf = ({ results }: Diagnosis): readonly string[] =>
    results.filter(({ check }) => check === 'other-scaler').map(({ message }) => message);

  const decisionOf = ({ results }: Diagnosis): string =>
    results.find(({ check }) => check === 'decision')?.message ?? '';

  it.each([
    ['of the document', '  dryRun: true\n', []],
    ['of the service', '', ['--dry-run']],
  ])(
    '%s next to an HPA succeeds, and names the metric only if the two are compared',
    async (_, spec, args) => {
      const simulator = await nextToHpa(HELD);
      const documents = { web: document('web', spec) };
      const { url } = await prometheus([]);

      const compared = await diagnose(simulator, documents, args);
      const noValue = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents, args });

      expect(compared.of('other-scaler')).toEqual([]);
      for (const report of [compared, noValue])
        expect(messagesOf(report)).toEqual([
          'dry run next to HorizontalPodAutoscaler shop/web-hpa with 5 desired replicas',
        ]);
      expect(decisionOf(compared)).toMatch(
        /; the metric promscaler_shadow_difference_replicas compares the decision with HorizontalPodAutoscaler shop\/web-hpa\)$/,
      );
      expect(decisionOf(noValue)).not.toContain('promscaler_shadow_difference_replicas');
    },
  );

  it.each([
    [
      'has no desired replicas yet',
      { desiredReplicas: 0 },
      'the HPA controller has not set them yet',
      'if the HPA is new, wait a minute and run this command again; or ',
    ],
    [
      'has no metrics',
      {
        ...HELD,
        conditions: [
          {
            type: 'ScalingActive',
            status: 'False',
            reason: 'FailedGetResourceMetric',
            message: 'no metrics',
          },
        ],
      },
      'FailedGetResourceMetric: no metrics',
      '',
    ],
  ])(
    'fails while the HPA %s, because nothing scales the target, unless it is paused',
    async (_what, status, why, first) => {
      const simulator = await nextToHpa(status);
      const nothing = `nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa has no desired replicas: ${why}`;

      const report = await diagnose(simulator, { web: document('web', '  dryRun: true\n') });
      const ofService = await diagnose(simulator, { web: document('web') }, ['--dry-run']);
      const paused = await diagnose(simulator, { web: document('web', '  dryRun: true\n  paused: true\n') });

      expect(report.of('other-scaler')).toMatchObject([
        {
          status: 'failed',
          message: `the scaler is in dry run, and ${nothing}`,
          fix: `${first}kubectl describe -n shop hpa web-hpa; or with the document in the cluster: promscaler adopt hpa/web-hpa -n shop --switch --force; or in a file, remove spec.dryRun`,
        },
      ]);
      expect(ofService.of('other-scaler')).toMatchObject([{ fix: 'start the service without --dry-run' }]);
      expect(messagesOf(paused)).toEqual([`the scaler is paused, and ${nothing}`]);
    },
  );

  it('fails once for two HPAs of the target, and names the deletion of either, because --switch refuses both', async () => {
    const simulator = await nextToHpa({ desiredReplicas: 0 });
    const [hpa] = simulator.listObjects('autoscaling/horizontalpodautoscalers', 'shop');
    simulator.addObject({ ...hpa, metadata: { namespace: 'shop', name: 'web-two' } });

    const report = await diagnose(simulator, { web: document('web', '  dryRun: true\n') });

    expect(report.of('other-scaler')).toMatchObject([
      {
        status: 'failed',
        message:
          'the scaler is in dry run, and nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa and HorizontalPodAutoscaler shop/web-two have the same target, and two HPAs of one target scale nothing',
        fix: 'kubectl delete -n shop hpa web-two; or kubectl delete -n shop hpa web-hpa',
      },
    ]);
  });

  it('succeeds next to an HPA without a count at 0 replicas, where it calculates none', async () => {
    const simulator = await nextToHpa({ desiredReplicas: 0 }, 0);

    expect(messagesOf(await diagnose(simulator, { web: document('web', '  dryRun: true\n') }))).toEqual([
      'dry run next to HorizontalPodAutoscaler shop/web-hpa, which has no desired replicas while its target has 0 replicas',
    ]);
  });

  it('fails for an HPA next to a scaler without dry run, and suggests dryRun', async () => {
    const simulator = await nextToHpa(HELD);

    const { of } = await diagnose(simulator, { web: document('web') });

    expect(of('other-scaler')).toMatchObject([
      { status: 'failed', fix: expect.stringContaining('spec.dryRun: true') },
    ]);
  });
});
