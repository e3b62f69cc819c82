import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { cluster, diagnoseHealthy, document, shop } from './fixture.js';

describe('target', () => {
  let simulator: Simulator;

  beforeAll(async () => {
    simulator = await cluster({
      workloads: [
        shop('checkout'),
        shop('db', { kind: 'StatefulSet' }),
        shop('off', { replicas: 0 }),
        shop('cache', { kind: 'ReplicaSet' }),
        { namespace: 'back', name: 'mailer', replicas: 1 },
      ],
    });
  });

  async function result(text: string): Promise<CheckResult> {
    const [found] = (await diagnoseHealthy(simulator, { x: text })).of('target');
    if (found === undefined) throw new Error('all is well with the target');
    return found;
  }

  it.each([
    [
      document('web', '  scaleTargetRef: { name: chekcout }\n'),
      'deployment shop/chekcout does not exist',
      'spec.scaleTargetRef.name: checkout',
    ],
    // The scaler has the name of its target, so the similar name may be that of another workload.
    [
      document('checkout-2'),
      'deployment shop/checkout-2 does not exist, but deployment shop/checkout has a similar name',
      'create deployment shop/checkout-2, correct spec.scaleTargetRef, or delete this document',
    ],
    [
      document('db'),
      'deployment shop/db does not exist, but a StatefulSet of the same name exists',
      'spec.scaleTargetRef: { kind: StatefulSet, name: db }',
    ],
    [
      document('cache'),
      'deployment shop/cache does not exist, but a ReplicaSet of the same name exists',
      'spec.scaleTargetRef: { kind: ReplicaSet, name: cache }',
    ],
    [
      document('mailer'),
      'deployment shop/mailer does not exist, but a workload of the same name exists in namespace back',
      'metadata.namespace: back',
    ],
    [
      document('zzzzzzzz'),
      'deployment shop/zzzzzzzz does not exist; namespace shop has checkout, off',
      'create deployment shop/zzzzzzzz, or correct spec.scaleTargetRef.name',
    ],
    [
      document('zzzzzzzz', '  namespace: bakc\n'),
      'deployment bakc/zzzzzzzz does not exist: namespace bakc has no deployments',
      'metadata.namespace: back',
    ],
  ])('that does not exist %#: the similar one is named', async (text, message, fix) => {
    expect(await result(text)).toMatchObject({ status: 'failed', message, fix });
  });

  it.each<readonly [string, { readonly dryRun?: boolean; readonly [field: string]: unknown }, string]>([
    ['chekcout', {}, 'deployment shop/checkout exists, but Scaler shop/other scales it'],
    ['db', { kind: 'StatefulSet' }, 'statefulset shop/db exists, but Scaler shop/other scales it'],
    ['hpaed-x', {}, 'deployment shop/hpaed exists, but HorizontalPodAutoscaler shop/h scales it'],
    [
      'chekcout',
      { dryRun: true },
      'deployment shop/checkout exists, but it is the target of Scaler shop/other, which is in dry run',
    ],
    [
      'hpaed-x',
      { name: 'hpaed', dryRun: true },
      'deployment shop/hpaed exists, but HorizontalPodAutoscaler shop/h scales it',
    ],
  ])(
    '%s that does not exist is not corrected to the target of %j, which is named',
    async (name, { dryRun = false, ...ref }, why) => {
      const busy = await cluster({
        workloads: [shop('checkout'), shop('db', { kind: 'StatefulSet' }), shop('hpaed')],
      });
      busy.addObject({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { namespace: 'shop', name: 'h' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'hpaed' },
          maxReplicas: 3,
        },
      });
      const target = JSON.stringify({ name: name === 'db' ? 'db' : 'checkout', ...ref });
      const other = document('other', `  scaleTargetRef: ${target}\n  dryRun: ${dryRun}\n`);
      const documents = { x: document(name), other };

      const found = (await diagnoseHealthy(busy, documents)).of('target')[0];

      expect(found?.message).toBe(`deployment shop/${name} does not exist; ${why}`);
      expect(found?.fix).toBe(
        `create deployment shop/${name}, correct spec.scaleTargetRef, or delete this document`,
      );
    },
  );

  it('that does not exist has no fix among deployments that are all scaled', async () => {
    const busy = await cluster({ workloads: [shop('checkout')] });
    const documents = { x: document('zzzzzzzz'), y: document('checkout') };

    const found = (await diagnoseHealthy(busy, documents)).of('target')[0];

    expect(found?.message).toBe(
      'deployment shop/zzzzzzzz does not exist; other documents or HPAs scale all deployments of namespace shop',
    );
  });

  it('of a kind that the cluster does not serve fails, with the command that lists them', async () => {
    const ref = '  scaleTargetRef: { apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: x }\n';

    const { message, fix } = await result(document('x', ref));

    expect(message).toContain('the cluster does not serve this API group');
    expect(fix).toBe(
      'install the CRDs of apps.kruise.io, or set apiVersion and kind of spec.scaleTargetRef to those of the workload: kubectl api-resources',
    );
  });

  it('of a kind of a built-in API group that is not served fails without advice on CRDs', async () => {
    const ref = '  scaleTargetRef: { apiVersion: batch/v1, kind: CronJob, name: x }\n';

    expect((await result(document('x', ref))).fix).toBe(
      'set apiVersion and kind of spec.scaleTargetRef to those of a workload that has replicas, such as a Deployment or StatefulSet (apps/v1): kubectl get -A deployment,statefulset',
    );
  });

  it('that a Deployment owns fails: the Deployment must be scaled', async () => {
    const owned = simulator.listObjects('apps/replicasets', 'shop')[0]?.metadata.name ?? '';

    const { message, fix } = await result(
      document('x', `  scaleTargetRef: { kind: ReplicaSet, name: ${owned} }\n`),
    );

    const owner = owned.replace(/-[a-z0-9]+$/, '');
    expect(message).toContain(`deployment shop/${owner} owns this ReplicaSet and would revert every change`);
    expect(fix).toBe(`spec.scaleTargetRef: { kind: Deployment, name: ${owner} }`);
  });

  it('that a user scaled to 0 is a warning with the command that scales it up', async () => {
    expect(await result(document('off'))).toMatchObject({
      status: 'warning',
      fix: 'kubectl scale -n shop deployment/off --replicas=1 enables scaling again',
    });
    expect(await result(document('off').replace('minReplicas: 1', 'minReplicas: 2'))).toMatchObject({
      fix: 'kubectl scale -n shop deployment/off --replicas=2 enables scaling again',
    });
  });

  it('can be of a kind whose API the account cannot discover', async () => {
    const canary = '  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: c }\n';
    simulator.faults.add(
      { resource: 'rollouts', subresource: 'scale' },
      { kind: 'refuse', status: 403, reason: 'Forbidden' },
    );

    const { fix } = await result(document('c', canary));

    expect(fix).toContain('targets: [deployments, statefulsets, replicasets, rollouts.argoproj.io]');
  });

  it('that cannot be read fails with the chart value for its namespace', async () => {
    simulator.faults.add(
      { resource: 'deployments', subresource: 'scale', name: 'checkout' },
      { kind: 'refuse', status: 403, reason: 'Forbidden' },
    );

    const { message, fix } = await result(document('checkout'));

    expect(message).toContain('reading scale of deployment shop/checkout: 403 Forbidden');
    expect(fix).toContain('set the chart value targets: [deployments');
    expect(fix).toContain('add shop');
  });
});

describe('pods', () => {
  it('of another workload that the selector matches fail the check, with their owner', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });
    const pod = simulator.listObjects('/pods', 'shop')[0];
    simulator.addObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'shop',
        name: 'web-canary-abc-12345',
        labels: { app: 'web', 'pod-template-hash': 'abc' },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-canary-abc', uid: 'u', controller: true },
        ],
      },
      spec: pod?.['spec'],
    });

    const [found] = (await diagnoseHealthy(simulator, { web: document('web') })).of('pods');

    expect(found?.status).toBe('failed');
    expect(found?.message).toContain(
      'the selector app=web of deployment shop/web also matches 1 pod of deployment web-canary',
    );
    expect(found?.fix).toContain("kubectl get pods -n shop -l 'app=web'");
  });

  it('that are its own are ok, whatever the kind', async () => {
    const simulator = await cluster({
      workloads: [shop('web'), shop('db', { kind: 'StatefulSet' }), shop('c', { kind: 'Rollout' })],
    });

    const { of } = await diagnoseHealthy(simulator, {
      web: document('web'),
      db: document('db', '  scaleTargetRef: { kind: StatefulSet, name: db }\n'),
      c: document('c', '  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: c }\n'),
    });

    expect(of('pods')).toEqual([]);
  });

  it('that do not exist, although replicas are requested, fail', async () => {
    const simulator = await cluster({ workloads: [] });
    simulator.addObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'shop', name: 'web' },
      spec: {
        replicas: 3,
        paused: true,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'app', image: 'x' }] },
        },
      },
    });
    simulator.faults.add(
      { verbs: ['list'], resource: 'pods' },
      {
        kind: 'refuse',
        status: 200,
        body: '{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]}',
      },
    );

    const [found] = (await diagnoseHealthy(simulator, { web: document('web') })).of('pods');

    expect(found?.message).toBe(
      'deployment shop/web has spec.replicas 3, but its selector app=web matches no pod',
    );
    expect(found?.fix).toContain('kubectl get events -n shop');
  });

  it('that were created a moment ago start, which is no problem', async () => {
    const simulator = await cluster({ workloads: [shop('web', { podAgeSeconds: null })] });

    const { of, results } = await diagnoseHealthy(simulator, { web: document('web') });

    expect(of('pods')).toEqual([]);
    expect(results.find(({ check }) => check === 'pods')?.message).toBe(
      'none of the 2 pods is ready, and 2 are starting',
    );
  });

  it('that cannot be listed fail', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });
    simulator.faults.add({ verbs: ['list'], resource: 'pods' }, { kind: 'refuse', status: 403 });

    const { of } = await diagnoseHealthy(simulator, { web: document('web') });

    expect(of('pods')).toMatchObject([{ status: 'failed' }]);
    expect(of('requests')).toMatchObject([{ status: 'skipped', message: 'the pods cannot be read' }]);
    expect(of('decision')).toMatchObject([{ status: 'skipped', message: 'the pods cannot be read' }]);
  });
});
