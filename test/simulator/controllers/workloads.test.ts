import { describe, expect, it } from '@jest/globals';
import { listAt, numberAt, objectAt, stringAt, valueAt } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { DEPLOYMENTS, PODS, WEB, names, pass, send, startCluster, namesOfEvents, watch } from '../cluster.js';

describe('a deployment', () => {
  it('moves pods from Pending over Running to Ready on a scale-up, and sends that to a watch', async () => {
    const { simulator, clock } = await startCluster({ workloads: [{ ...WEB, replicas: 1 }] });
    const open = await watch(simulator, PODS);
    await eventually(() => open.events.length === 1);

    await send(simulator, 'PATCH', `${DEPLOYMENTS}/web/scale`, { body: { spec: { replicas: 2 } } });
    await pass(clock, 0.1);
    expect(simulator.describe(WEB)).toMatchObject({ replicas: 2, readyPods: 1 });
    await pass(clock, 2);
    await pass(clock, 3);

    await eventually(() => open.events.length === 4);
    const seen = open.events
      .slice(1)
      .map((event) => [
        stringAt(event, 'object', 'status', 'phase'),
        stringAt(event, 'object', 'status', 'conditions', 3, 'status'),
      ]);
    expect(seen).toEqual([
      ['Pending', 'False'],
      ['Running', 'False'],
      ['Running', 'True'],
    ]);
    expect((await send(simulator, 'GET', `${DEPLOYMENTS}/web`)).body['status']).toMatchObject({
      replicas: 2,
      readyReplicas: 2,
      observedGeneration: 2,
    });
  });

  it('marks pods for a moment on a scale-down, then deletes them', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const open = await watch(simulator, PODS);
    await eventually(() => open.events.length === 3);

    simulator.setReplicas(WEB, 2);
    await pass(clock, 0.1);
    await pass(clock, 3);

    await eventually(() => open.events.length === 5);
    expect(
      namesOfEvents(open.events)
        .map((text) => text.split(' ')[0])
        .slice(3),
    ).toEqual(['MODIFIED', 'DELETED']);
    expect(stringAt(open.events[3], 'object', 'metadata', 'deletionTimestamp')).toBe('2026-01-01T00:00:00Z');
  });

  it('owns a ReplicaSet that owns the pods', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const [pod] = simulator.listObjects('/pods', 'shop');
    const [set] = simulator.listObjects('apps/replicasets', 'shop');

    expect(stringAt(pod, 'metadata', 'ownerReferences', 0, 'uid')).toBe(set?.metadata.uid);
    expect(stringAt(pod, 'metadata', 'ownerReferences', 0, 'kind')).toBe('ReplicaSet');
    expect(stringAt(set, 'metadata', 'ownerReferences', 0, 'name')).toBe('web');
    expect(stringAt(pod, 'metadata', 'labels', 'pod-template-hash')).toBe(
      stringAt(set, 'metadata', 'labels', 'pod-template-hash'),
    );
    expect(stringAt(pod, 'status', 'startTime')).toBe('2025-12-31T23:00:00Z');
  });

  it('rolls over to a changed template and keeps the old ReplicaSet at 0', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const before = simulator.describe(WEB).pods;

    simulator.setTemplate(WEB, { metadata: { annotations: { restarted: 'yes' } } });
    for (let second = 0; second < 40; second += 1) await pass(clock, 1);

    const view = simulator.describe(WEB);
    expect(view).toMatchObject({ replicas: 3, readyPods: 3 });
    expect(view.pods.some((pod) => before.includes(pod))).toBe(false);
    const sets = simulator
      .listObjects('apps/replicasets', 'shop')
      .map((set) => numberAt(set, 'spec', 'replicas'));
    expect(sets.sort()).toEqual([0, 3]);
    expect((await send(simulator, 'GET', `${DEPLOYMENTS}/web`)).body).toMatchObject({
      metadata: { annotations: { 'deployment.kubernetes.io/revision': '2' } },
      status: { updatedReplicas: 3 },
    });
  });

  it('replaces a pod that a client deletes', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const [first = ''] = simulator.describe(WEB).pods;

    await send(simulator, 'DELETE', `${PODS}/${first}`);
    for (let second = 0; second < 7; second += 1) await pass(clock, 1);

    const view = simulator.describe(WEB);
    expect(view.readyPods).toBe(3);
    expect(view.pods).not.toContain(first);
  });

  it('ends the pod whose deletion cost a client lowered', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const [, , last = ''] = simulator.describe(WEB).pods;
    const metadata = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } };

    await send(simulator, 'PATCH', `${PODS}/${last}`, { body: { metadata } });
    simulator.setReplicas(WEB, 2);
    await pass(clock, 0.1);

    expect(simulator.describe(WEB).pods).not.toContain(last);
  });

  it('is deleted with its ReplicaSets and pods', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });

    await send(simulator, 'DELETE', `${DEPLOYMENTS}/web`);
    for (let second = 0; second < 4; second += 1) await pass(clock, 1);

    expect(simulator.listObjects('/pods')).toEqual([]);
    expect(simulator.listObjects('apps/replicasets')).toEqual([]);
  });

  it('marks a broken pod as not ready until it recovers', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const [first = ''] = simulator.describe(WEB).pods;

    simulator.breakPod('shop', first);
    await pass(clock, 1);
    expect(simulator.describe(WEB).readyPods).toBe(2);
    simulator.breakPod('shop', first, false);
    await pass(clock, 1);
    expect(simulator.describe(WEB).readyPods).toBe(3);
  });

  it.each([
    ['64', 'Running'],
    ['64001m', 'Pending'],
  ])(
    'leaves new pods that request %s cores on the node of 64 cores %s, and keeps old ones',
    async (cpu, phase) => {
      const { simulator, clock } = await startCluster({ workloads: [{ ...WEB, replicas: 2 }] });
      const before = simulator.describe(WEB).pods;
      const resources = { requests: { cpu }, limits: { cpu } };
      const containers = [{ name: 'app', image: 'registry.example/app:1', resources }];

      await send(simulator, 'PATCH', `${DEPLOYMENTS}/web`, {
        body: { spec: { template: { spec: { containers } } } },
      });
      await pass(clock, 1);
      await pass(clock, 3);

      const pods = simulator.listObjects('/pods');
      const added = pods.filter(({ metadata }) => !before.includes(metadata.name));
      expect(added.map((pod) => stringAt(pod, 'status', 'phase'))).toEqual([phase]);
      expect(stringAt(added[0], 'status', 'conditions', 0, 'reason')).toBe(
        phase === 'Pending' ? 'Unschedulable' : null,
      );
      expect(pods).toHaveLength(3);
    },
  );

  it('leaves pods Pending and unscheduled permanently if they never start', async () => {
    const timing = { startSeconds: Number.POSITIVE_INFINITY };
    const { simulator, clock } = await startCluster({
      workloads: [{ ...WEB, podAgeSeconds: null, behavior: { timing } }],
    });

    await pass(clock, 3600);

    const [pod] = simulator.listObjects('/pods');
    expect(objectAt(pod, 'status')).toMatchObject({ phase: 'Pending' });
    expect(valueAt(pod, 'status', 'startTime')).toBeUndefined();
  });
});

describe('other workloads', () => {
  it.each(['StatefulSet', 'ReplicaSet', 'ReplicationController', 'Rollout'] as const)(
    'scales a %s up and down',
    async (kind) => {
      const { simulator, clock } = await startCluster({ workloads: [{ ...WEB, kind, replicas: 2 }] });

      simulator.setReplicas(WEB, 4);
      for (let second = 0; second < 15; second += 1) await pass(clock, 1);
      const up = simulator.describe(WEB).readyPods;
      simulator.setReplicas(WEB, 1);
      for (let second = 0; second < 15; second += 1) await pass(clock, 1);

      expect([up, simulator.describe(WEB).readyPods]).toEqual([4, 1]);
      expect(simulator.listObjects('/pods')).toHaveLength(1);
    },
  );

  it('replaces the pods of a StatefulSet in a rollout by new ones with the same names', async () => {
    const workload = { ...WEB, kind: 'StatefulSet', replicas: 2 } as const;
    const { simulator, clock } = await startCluster({ workloads: [workload] });
    const before = simulator.listObjects('/pods').map(({ metadata }) => metadata);

    const containers = [{ name: 'app', image: 'registry.example/app:2' }];
    await send(simulator, 'PATCH', '/apis/apps/v1/namespaces/shop/statefulsets/web', {
      body: { spec: { template: { spec: { containers } } } },
    });
    for (let second = 0; second < 20; second += 1) await pass(clock, 1);

    const after = simulator.listObjects('/pods').map(({ metadata }) => metadata);
    expect(after.map(({ name }) => name).sort()).toEqual(['web-0', 'web-1']);
    expect(after.map(({ deletionTimestamp }) => deletionTimestamp)).toEqual([undefined, undefined]);
    expect(after.some(({ uid }) => before.some((one) => one.uid === uid))).toBe(false);
    expect(simulator.describe(workload).readyPods).toBe(2);
  });

  it('reverts a ReplicaSet that a client scaled under its Deployment', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const [set] = names((await send(simulator, 'GET', '/apis/apps/v1/namespaces/shop/replicasets')).body);

    await send(simulator, 'PATCH', `/apis/apps/v1/namespaces/shop/replicasets/${set ?? ''}/scale`, {
      body: { spec: { replicas: 9 } },
    });
    await pass(clock, 1);

    expect(valueAt(simulator.listObjects('apps/replicasets')[0], 'spec', 'replicas')).toBe(3);
    expect(simulator.describe(WEB).pods).toHaveLength(3);
  });

  it('numbers ordered pods in their names', async () => {
    const { simulator } = await startCluster({ workloads: [{ ...WEB, kind: 'StatefulSet', name: 'db' }] });

    expect(names((await send(simulator, 'GET', PODS)).body)).toEqual(['db-0', 'db-1', 'db-2']);
    expect(listAt(simulator.listObjects('/pods')[0], 'metadata', 'ownerReferences')).toMatchObject([
      { kind: 'StatefulSet' },
    ]);
  });
});

describe('a large cluster', () => {
  it('starts 1,000 deployments of 5 pods, and does nothing while nothing changes', async () => {
    const workloads = Array.from({ length: 1000 }, (_, i) => ({
      namespace: `n${i % 20}`,
      name: `w${i}`,
      replicas: 5,
    }));

    const { simulator, clock } = await startCluster({ workloads });
    await pass(clock, 1);
    const before = simulator.listObjects('/pods').length;

    expect(before).toBe(5000);
    expect(clock.pending).toBe(0);
  });
});
