import { describe, expect, it } from '@jest/globals';
import { send } from '../../simulator/cluster.js';
import { cluster, diagnoseHealthy, document, shop } from './fixture.js';

describe('target with an annotation that promscaler does not read', () => {
  const paths = {
    Deployment: '/apis/apps/v1/namespaces/shop/deployments/web',
    Rollout: '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web',
  };

  it.each([
    [
      'Deployment',
      'promscaler.dev/pause',
      'annotation promscaler.dev/pause of deployment shop/web has no effect: did you mean promscaler.dev/paused? To pause: promscaler pause shop/web',
      'kubectl annotate -n shop deployment web promscaler.dev/pause-',
    ],
    [
      'Rollout',
      'promscaler.dev/paused',
      'annotation promscaler.dev/paused of rollout shop/web has no effect: promscaler reads no annotations of a Rollout. To pause its scaling, set spec.paused: true in the document',
      'kubectl annotate -n shop rollout.argoproj.io web promscaler.dev/paused-',
    ],
  ] as const)('of a %s warns about %s', async (kind, key, message, fix) => {
    const simulator = await cluster({ workloads: [shop('web', { kind })] });
    await send(simulator, 'PATCH', paths[kind], { body: { metadata: { annotations: { [key]: 'true' } } } });
    const apiVersion = kind === 'Rollout' ? 'argoproj.io/v1alpha1' : 'apps/v1';
    const ref = `  scaleTargetRef: { apiVersion: ${apiVersion}, kind: ${kind}, name: web }\n`;

    const report = await diagnoseHealthy(simulator, { web: document('web', ref) });

    expect(report.of('target')).toMatchObject([{ status: 'warning', message, fix }]);
    // The service does not read it either.
    expect(report.of('decision')).toEqual([]);
  });
});

describe('an annotation of a pause on another object than the target', () => {
  const paused = { 'promscaler.dev/paused': 'true' };
  const reads =
    'promscaler reads a pause only from annotations of the workload. To pause the workload: promscaler pause shop/web';

  it('is a warning for the namespace and for a ReplicaSet of the target', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });
    const replicaSet = simulator.listObjects('apps/replicasets', 'shop')[0]?.metadata.name ?? '';
    for (const path of [
      '/api/v1/namespaces/shop',
      `/apis/apps/v1/namespaces/shop/replicasets/${replicaSet}?fieldManager=kubectl-annotate`,
    ])
      await send(simulator, 'PATCH', path, { body: { metadata: { annotations: paused } } });

    const report = await diagnoseHealthy(simulator, { web: document('web') });

    expect(report.of('target')).toMatchObject([
      {
        status: 'warning',
        message: `annotation promscaler.dev/paused of namespace shop has no effect: ${reads}`,
        fix: 'kubectl annotate namespace shop promscaler.dev/paused-',
      },
      {
        status: 'warning',
        message: `annotation promscaler.dev/paused of replicaset shop/${replicaSet} has no effect: ${reads}`,
        fix: `kubectl annotate -n shop replicaset ${replicaSet} promscaler.dev/paused-`,
      },
    ]);
  });

  it('is none of a ReplicaSet if its controller has copied it from the Deployment', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });
    const replicaSet = simulator.listObjects('apps/replicasets', 'shop')[0]?.metadata.name ?? '';
    const path = `/apis/apps/v1/namespaces/shop/replicasets/${replicaSet}?fieldManager=kube-controller-manager`;
    await send(simulator, 'PATCH', path, { body: { metadata: { annotations: paused } } });

    expect((await diagnoseHealthy(simulator, { web: document('web') })).of('target')).toEqual([]);
  });
});

describe('target with the annotations of a pause that has ended', () => {
  it('warns that another paused would pause nothing, with the command that removes them', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });
    const annotations = {
      'promscaler.dev/paused': 'true',
      'promscaler.dev/paused-until': '2020-01-01T00:00:00Z',
    };
    await send(simulator, 'PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', {
      body: { metadata: { annotations } },
    });

    const report = await diagnoseHealthy(simulator, { web: document('web') });

    expect(report.of('target')).toMatchObject([
      {
        status: 'warning',
        message:
          'the pause by annotation ended at 2020-01-01T00:00:00Z: promscaler.dev/paused pauses nothing until promscaler.dev/paused-until is removed or set to a later time',
        fix: 'promscaler resume shop/web removes the annotations; to pause again: promscaler pause shop/web',
      },
    ]);
    expect(report.of('decision')).toEqual([]);
  });
});

describe('target with a pause at 0 replicas', () => {
  it('is not reported as set to 0 by a person, and only the pause is to be ended', async () => {
    const simulator = await cluster({ workloads: [shop('web', { replicas: 0 })] });
    const annotations = { 'promscaler.dev/paused': 'true', 'promscaler.dev/paused-replicas': '0' };
    await send(simulator, 'PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', {
      body: { metadata: { annotations } },
    });

    const report = await diagnoseHealthy(simulator, { web: document('web') });

    expect(report.of('target')).toEqual([]);
    expect(report.of('decision')).toMatchObject([
      {
        status: 'warning',
        message:
          'the current decision, which ignores all windows, is: 0 replicas are below minReplicas (1) (not applied: scaling is paused by annotation; kept at 0)',
        fix: 'if the pause is no longer needed: promscaler resume shop/web',
      },
    ]);
    expect(JSON.stringify(report)).not.toContain('a person');
  });
});
