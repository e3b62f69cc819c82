import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { type Condition, ResourceRig } from './custom-resources-rig.js';

jest.setTimeout(60_000);

function loadMetric(query: string): JsonObject {
  return { external: { metric: { name: 'load' }, query, target: { averageValue: 10 } } };
}

describe('run, with scalers of the cluster', () => {
  it('scales by an object that is created while it runs, and reports that in its status', async () => {
    const rig = await ResourceRig.create();
    rig.start();

    rig.apply('web');

    await eventually(() => rig.replicas('web') === 4, 'shop/web to have 4 replicas');
    await rig.shows('web', 'Ready True Ready');
    await eventually(() => rig.status('web')['currentReplicas'] === 4, 'the object to show 4 replicas');
    expect(rig.status('web')).toMatchObject({ observedGeneration: 1, desiredReplicas: 4 });
    expect(rig.status('web')['lastScaleTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(rig.status('web')['currentMetrics']).toEqual([
      {
        type: 'External',
        external: {
          metric: { name: 'load' },
          current: { averageValue: expect.stringMatching(/^[0-9]+(\.[0-9]+)?$/) },
        },
      },
    ]);
    expect(rig.condition('web', 'Accepted')).toMatchObject({ status: 'True', observedGeneration: 1 });
    await eventually(() => rig.events('SuccessfulRescale').length === 2, 'the Events of the rescale');
    const uid = rig.simulator.getObject('promscaler.dev/scalers', 'shop', 'web')?.metadata.uid;
    expect(rig.events('SuccessfulRescale')).toEqual([
      expect.objectContaining({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'shop' }),
      expect.objectContaining({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', name: 'web', uid }),
    ]);
  });

  it('keeps the last valid version of an object that becomes invalid, reports that, and applies the fixed one', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web');
    const service = rig.start();
    await rig.shows('web', 'Ready True Ready');

    const refused = await rig.edit('web', { minReplicas: 30 });
    await rig.edit('web', { metrics: [loadMetric('sum(load')] });
    await rig.shows('web', 'Accepted False Invalid');
    rig.load = 60;
    await eventually(() => rig.replicas('web') === 6, 'the last good version to go on');

    expect([refused.code, refused.body['message']]).toEqual([
      422,
      expect.stringContaining('minReplicas must be at most maxReplicas'),
    ]);
    const message = rig.condition('web', 'Accepted')?.message;
    expect(message).toMatch(/^spec\.metrics\[0\]\.external\.query/);
    expect(message).toMatch(/\nthe last valid version stays in effect$/);
    expect(rig.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'Invalid' });
    expect(service.written.stderr).toContain('scalers.promscaler.dev/shop/web');
    await rig.edit('web', { minReplicas: 8, metrics: [loadMetric('sum(load)')] });
    await eventually(() => rig.replicas('web') === 8, 'the fixed version to be in effect');
    await rig.shows('web', 'Ready True Ready');
    expect(rig.condition('web', 'Accepted')).toMatchObject({ status: 'True', observedGeneration: 3 });
  });

  it('reports the generation of the last of five quick edits on each condition long before the period of 300 s ends', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web', { syncPeriodSeconds: 300 });
    rig.start();
    await rig.shows('web', 'Ready True Ready');
    const startMs = rig.clock.monotonicMs();

    for (let edit = 1; edit <= 5; edit += 1) await rig.edit('web', { maxReplicas: 10 + edit });
    const generations = (): readonly unknown[] => {
      const conditions = (rig.status('web')['conditions'] ?? []) as unknown as readonly Condition[];
      return conditions.map(({ observedGeneration }) => observedGeneration);
    };
    await eventually(() => generations().every((one) => one === 6), 'each condition to follow');

    expect(generations().length).toBeGreaterThan(4);
    expect(rig.status('web')['observedGeneration']).toBe(6);
    expect(rig.clock.monotonicMs() - startMs).toBeLessThan(290_000);
  });

  it('recovers soon after an API server that forbids everything while it starts', async () => {
    const rig = await ResourceRig.create();
    const starting = rig.simulator.faults.add({}, { kind: 'refuse', status: 403 });
    rig.apply('web');
    const service = rig.start({
      config: 'leaderElection: { enabled: true }',
      env: { POD_NAMESPACE: 'monitoring' },
    });
    await eventually(
      () => rig.simulator.requests().filter(({ resource }) => resource === 'leases').length >= 2,
      'two tries to take the Lease',
    );
    starting();

    await rig.shows('web', 'Ready True Ready');

    expect(service.written.stderr).not.toContain('list or watch failed');
    expect(service.written.stderr).not.toContain('could not be written');
  });

  it('does not change the workload of a deleted object', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web');
    rig.apply('api');
    const service = rig.start();
    await eventually(() => rig.replicas('web') === 4, 'shop/web to have 4 replicas');

    await rig.remove('web');
    await eventually(() => service.written.stderr.includes('scaler removed'), 'the scaler to go');
    rig.load = 90;
    await eventually(() => rig.replicas('api') === 9, 'shop/api to have 9 replicas');

    expect(rig.replicas('web')).toBe(4);
  });

  it('runs without the CRD, reports once how to install it, and starts when the CRD exists', async () => {
    const rig = await ResourceRig.create({ hasDefinition: false });
    const service = rig.start();
    await eventually(() => service.written.stderr.includes('crd.enabled: true'), 'the fix');
    expect(service.written.stderr).toContain('"listening"');
    const page = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
    expect((await fetch(`${page}/readyz`)).status).toBe(200);

    rig.define();
    rig.apply('web');

    await rig.shows('web', 'Ready True Ready');
    expect(service.written.stderr.split('crd.enabled: true')).toHaveLength(2);
  });

  it('uses a file before an object with the same name, which takes effect when the file is removed', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web', { minReplicas: 9 });
    const file = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec: { scaleTargetRef: { name: web }, minReplicas: 7, maxReplicas: 20 }
`;
    const service = rig.start({ files: { 'scalers/web.yaml': file } });

    await rig.shows('web', 'Accepted False Duplicate');
    expect(rig.condition('web', 'Accepted')?.message).toContain('web.yaml:3: files take precedence');
    expect(rig.status('web')).not.toHaveProperty('currentReplicas');
    await eventually(() => rig.replicas('web') === 7, 'the file to be in effect');
    await eventually(() => rig.events('SuccessfulRescale').length > 0, 'the Event of the rescale');
    expect(rig.events('SuccessfulRescale').map(({ kind }) => kind)).toEqual(['Deployment']);
    await rm(join(service.folder, 'scalers/web.yaml'));

    await rig.shows('web', 'Ready True Ready');
    await eventually(() => rig.replicas('web') === 9, 'the object to be in effect');
  });

  it('queries a data source for the namespaces that it admits, and rejects others', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web', {}, 'shop');
    rig.apply('web', {}, 'lab');
    rig.start({ sources: `{ default: { urls: ['${rig.prometheusUrl}'], namespaces: [shop] } }` });

    await rig.shows('web', 'Ready True Ready', 'shop');
    await rig.shows('web', 'Accepted False SourceNotAdmitted', 'lab');

    expect(rig.replicas('web', 'shop')).toBe(4);
    expect(rig.replicas('web', 'lab')).toBe(3);
    expect(rig.condition('web', 'Ready', 'lab')).toMatchObject({
      status: 'False',
      reason: 'SourceNotAdmitted',
    });
  });

  it('watches only the configured namespaces', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web', {}, 'shop');
    rig.apply('web', {}, 'lab');
    rig.start({ namespaces: '[lab]' });

    await rig.shows('web', 'Ready True Ready', 'lab');

    expect(new Set(rig.requests())).toEqual(new Set(['list lab', 'watch lab', 'patch status']));
    expect(rig.status('web', 'shop')).toEqual({});
    expect(rig.replicas('web', 'shop')).toBe(3);
  });

  it('reports why it does not work without any credentials of the service', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web');
    const header = 'Bearer sesame-4711';
    rig.start({
      sources: `{ default: { urls: ['http://127.0.0.1:9'], headers: { Authorization: '${header}' } } }`,
    });

    await rig.shows('web', 'Ready False FailedGetExternalMetric');

    expect(rig.condition('web', 'Ready')?.message).toContain('External metric load');
    expect(JSON.stringify(rig.status('web'))).not.toContain('sesame');
  });

  it('writes no status with --dry-run', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web');
    const service = rig.start({ args: ['--dry-run'] });
    await eventually(() => service.written.stderr.includes('"dry-run"'), 'a decision to be held back');

    await rig.rounds(5);

    expect(rig.statusWrites()).toBe(0);
  });

  it('watches the objects as a standby, writes nothing, and acts as soon as it leads', async () => {
    const rig = await ResourceRig.create();
    const noLease = rig.simulator.faults.add({ resource: 'leases' }, { kind: 'refuse', status: 500 });
    rig.apply('web');
    rig.start({ config: 'leaderElection: { enabled: true }', env: { POD_NAMESPACE: 'monitoring' } });
    await eventually(() => rig.requests().includes('watch'), 'the objects to be watched');
    const attempts = (): number =>
      rig.simulator.requests().filter(({ resource }) => resource === 'leases').length;
    const before = attempts();
    await eventually(() => attempts() >= before + 4, 'four more attempts to take the Lease');
    expect(rig.requests()).toEqual(['list', 'watch']);

    noLease();

    await rig.shows('web', 'Ready True Ready');
  });

  it('writes nothing while nothing changes', async () => {
    const rig = await ResourceRig.create();
    rig.apply('web', { minReplicas: 4 });
    rig.start();
    await rig.shows('web', 'Ready True Ready');
    // The message of the change is replaced once, a minute later.
    await eventually(
      () => rig.condition('web', 'AbleToScale')?.reason === 'ReadyForNewScale',
      'it to settle',
    );
    await rig.rounds(5);
    const before = rig.statusWrites();

    await rig.rounds(20);

    expect(rig.statusWrites()).toBe(before);
  });
});
