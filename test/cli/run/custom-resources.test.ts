import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Overview, ScalerDetail } from '../../../src/api/answers.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { type Condition, ResourceFixture, scalerObject } from './custom-resources-fixture.js';

function loadMetric(query: string): JsonObject {
  return { external: { metric: { name: 'load' }, query, target: { averageValue: 10 } } };
}

describe('run, with scalers of the cluster', () => {
  it('scales by an object that is created while it runs, and reports that in its status', async () => {
    const fixture = await ResourceFixture.create();
    fixture.start();

    fixture.apply('web');

    await eventually(() => fixture.replicas('web') === 4, 'shop/web to have 4 replicas');
    await fixture.shows('web', 'Ready True Ready');
    await eventually(() => fixture.status('web')['currentReplicas'] === 4, 'the object to show 4 replicas');
    expect(fixture.status('web')).toMatchObject({ observedGeneration: 1, desiredReplicas: 4 });
    expect(fixture.status('web')['lastScaleTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(fixture.status('web')['currentMetrics']).toEqual([
      {
        type: 'External',
        external: {
          metric: { name: 'load' },
          current: { averageValue: expect.stringMatching(/^[0-9]+(\.[0-9]+)?$/) },
        },
      },
    ]);
    expect(fixture.condition('web', 'Accepted')).toMatchObject({ status: 'True', observedGeneration: 1 });
    await eventually(() => fixture.events('SuccessfulRescale').length === 2, 'the Events of the rescale');
    const uid = fixture.simulator.getObject('promscaler.dev/scalers', 'shop', 'web')?.metadata.uid;
    expect(fixture.events('SuccessfulRescale')).toEqual([
      expect.objectContaining({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'shop' }),
      expect.objectContaining({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', name: 'web', uid }),
    ]);
  });

  it('records one Event FailedGetScale on the object if its target does not exist', async () => {
    const fixture = await ResourceFixture.create();
    fixture.start();

    fixture.apply('typo', { scaleTargetRef: { name: 'wep' } });

    await eventually(() => fixture.events('FailedGetScale').length > 0, 'the Event of the missing target');
    await fixture.rounds(2);
    expect(fixture.events('FailedGetScale')).toEqual([
      expect.objectContaining({ kind: 'Scaler', name: 'typo', namespace: 'shop' }),
    ]);
  });

  it('shows the label of an object, and of a file, by which the dashboard groups', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web');
    const api = scalerObject('api');
    const labels = { team: 'b' };
    const file = JSON.stringify({ ...api, metadata: { name: 'api', namespace: 'shop', labels } });
    const service = fixture.start({ files: { 'scalers/api.yaml': file } });
    await fixture.shows('web', 'Ready True Ready');

    const read = async (): Promise<Overview> => {
      const url = /"listening".*?(http:\/\/[^"/]+)|(http:\/\/[^"/]+)[^\n]*"listening"/.exec(
        service.written.stderr,
      );
      return (await (await fetch(`${url?.[1] ?? url?.[2] ?? ''}/api/v1/overview`)).json()) as Overview;
    };
    await eventually(() => fixture.replicas('api') === 4, 'shop/api to have 4 replicas');

    const { groupLabel, rows } = await read();
    expect([groupLabel, rows.map(({ name, group }) => [name, group])]).toEqual([
      'team',
      [
        ['api', 'b'],
        ['web', 'a'],
      ],
    ]);
  });

  it('keeps the last valid version of an object that becomes invalid, reports that, and applies the fixed one', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web');
    const service = fixture.start();
    await fixture.shows('web', 'Ready True Ready');

    const refused = await fixture.edit('web', { minReplicas: 30 });
    await fixture.edit('web', { metrics: [loadMetric('sum(load')] });
    await fixture.shows('web', 'Accepted False Invalid');
    fixture.load = 60;
    await eventually(() => fixture.replicas('web') === 6, 'the last good version to go on');

    expect([refused.code, refused.body['message']]).toEqual([
      422,
      expect.stringContaining('spec.minReplicas must be at most spec.maxReplicas'),
    ]);
    const message = fixture.condition('web', 'Accepted')?.message;
    expect(message).toMatch(/^spec\.metrics\[0\]\.external\.query/);
    expect(message).toMatch(/; the last valid version stays in effect$/);
    expect(fixture.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'Invalid' });
    expect(service.written.stderr).toContain('scalers.promscaler.dev/shop/web');
    await fixture.edit('web', { minReplicas: 8, metrics: [loadMetric('sum(load)')] });
    await eventually(() => fixture.replicas('web') === 8, 'the fixed version to be in effect');
    await fixture.shows('web', 'Ready True Ready');
    expect(fixture.condition('web', 'Accepted')).toMatchObject({ status: 'True', observedGeneration: 3 });
  });

  it('has the same times in the API as in the object, also after a restart', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web');
    const first = fixture.start();
    await fixture.shows('web', 'Ready True Ready');
    await eventually(() => fixture.status('web')['state'] === 'OK', 'the state');
    await first.stop();
    const { stateSince } = fixture.status('web');

    const second = fixture.start();
    const urlOf = (): string => /"url":"(http:[^"]+)"/.exec(second.written.stderr)?.[1] ?? '';
    const details: ScalerDetail[] = [];
    await until(async () => {
      const response = urlOf() === '' ? null : await fetch(`${urlOf()}/api/v1/scalers/shop/web`);
      if (response?.ok === true) details.push((await response.json()) as ScalerDetail);
      return details.length > 0;
    }, 'a decision of the second process');

    const [detail] = details;
    expect(detail?.state).toMatchObject({ name: 'OK', since: stateSince });
    expect(detail?.conditions.find(({ type }) => type === 'AbleToScale')?.lastTransitionTime).toBe(
      fixture.condition('web', 'AbleToScale')?.lastTransitionTime,
    );
  });

  it('records one Event for each of two rejected generations, and none again after a restart', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web', { metrics: [loadMetric('sum(load'), { ...loadMetric('sum(load)'), x: 1 }] });
    const first = fixture.start();
    await eventually(() => fixture.events('Invalid').length === 1, 'the Event of generation 1');
    await first.stop();

    fixture.start();
    await fixture.edit('web', { metrics: [loadMetric('sum(')] });
    await eventually(() => fixture.events('Invalid').length === 2, 'the Event of generation 2');
    await fixture.edit('web', { metrics: [loadMetric('sum(load)')] });
    await fixture.shows('web', 'Ready True Ready');

    const events = fixture.simulator.listObjects('/events').filter(({ reason }) => reason === 'Invalid');
    const about = expect.objectContaining({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', name: 'web' });
    expect(events).toMatchObject([
      {
        type: 'Warning',
        involvedObject: about,
        message: expect.stringMatching(/^spec\.metrics\[0\]\.external\.query.*, and 1 more$/),
      },
      {
        type: 'Warning',
        involvedObject: about,
        message: expect.stringMatching(/^spec\.metrics\[0\]\.external\.query(?!.* more$)/),
      },
    ]);
  });

  it('reports the generation of the last of five quick edits on each condition long before the period of 300 s ends', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web', { syncPeriodSeconds: 300 });
    fixture.start();
    await fixture.shows('web', 'Ready True Ready');
    const startMs = fixture.clock.monotonicMs();

    for (let edit = 1; edit <= 5; edit += 1) await fixture.edit('web', { maxReplicas: 10 + edit });
    const generations = (): readonly unknown[] => {
      const conditions = (fixture.status('web')['conditions'] ?? []) as unknown as readonly Condition[];
      return conditions.map(({ observedGeneration }) => observedGeneration);
    };
    await eventually(() => generations().every((one) => one === 6), 'each condition to follow');

    expect(generations().length).toBeGreaterThan(4);
    expect(fixture.status('web')['observedGeneration']).toBe(6);
    expect(fixture.clock.monotonicMs() - startMs).toBeLessThan(290_000);
  });

  it('recovers soon after an API server that forbids everything while it starts', async () => {
    const fixture = await ResourceFixture.create();
    const starting = fixture.simulator.faults.add({}, { kind: 'refuse', status: 403 });
    fixture.apply('web');
    const service = fixture.start({
      config: 'leaderElection: { enabled: true }',
      env: { POD_NAMESPACE: 'monitoring' },
    });
    await eventually(
      () => fixture.simulator.requests().filter(({ resource }) => resource === 'leases').length >= 2,
      'two tries to take the Lease',
    );
    starting();

    await fixture.shows('web', 'Ready True Ready');

    expect(service.written.stderr).not.toContain('list or watch failed');
    expect(service.written.stderr).not.toContain('could not be written');
  });

  it('does not change the workload of a deleted object', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web');
    fixture.apply('api');
    const service = fixture.start();
    await eventually(() => fixture.replicas('web') === 4, 'shop/web to have 4 replicas');

    await fixture.remove('web');
    await eventually(() => service.written.stderr.includes('scaler removed'), 'the scaler to go');
    fixture.load = 90;
    await eventually(() => fixture.replicas('api') === 9, 'shop/api to have 9 replicas');

    expect(fixture.replicas('web')).toBe(4);
  });

  it('runs without the CRD, reports once how to install it, and starts when the CRD exists', async () => {
    const fixture = await ResourceFixture.create({ hasDefinition: false });
    const service = fixture.start();
    await eventually(() => service.written.stderr.includes('crd.enabled: true'), 'the fix');
    expect(service.written.stderr).toContain('"listening"');
    const page = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
    expect((await fetch(`${page}/readyz`)).status).toBe(200);

    fixture.define();
    fixture.apply('web');

    await fixture.shows('web', 'Ready True Ready');
    expect(service.written.stderr.split('crd.enabled: true')).toHaveLength(2);
  });

  it('uses a file before an object with the same name, which takes effect when the file is removed', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web', { minReplicas: 9 });
    const file = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec: { scaleTargetRef: { name: web }, minReplicas: 7, maxReplicas: 20 }
`;
    const service = fixture.start({ files: { 'scalers/web.yaml': file } });

    await fixture.shows('web', 'Accepted False Duplicate');
    expect(fixture.condition('web', 'Accepted')?.message).toContain('web.yaml:3: a file takes precedence');
    expect(fixture.status('web')).not.toHaveProperty('currentReplicas');
    await eventually(() => fixture.replicas('web') === 7, 'the file to be in effect');
    await eventually(() => fixture.events('SuccessfulRescale').length > 0, 'the Event of the rescale');
    expect(fixture.events('SuccessfulRescale').map(({ kind }) => kind)).toEqual(['Deployment']);
    await rm(join(service.folder, 'scalers/web.yaml'));

    await fixture.shows('web', 'Ready True Ready');
    await eventually(() => fixture.replicas('web') === 9, 'the object to be in effect');
  });

  it('queries a data source for the namespaces that it admits, and rejects others', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web', {}, 'shop');
    fixture.apply('web', {}, 'lab');
    fixture.start({ sources: `{ default: { urls: ['${fixture.prometheusUrl}'], namespaces: [shop] } }` });

    await fixture.shows('web', 'Ready True Ready', 'shop');
    await fixture.shows('web', 'Accepted False SourceNotAdmitted', 'lab');

    expect(fixture.replicas('web', 'shop')).toBe(4);
    expect(fixture.replicas('web', 'lab')).toBe(3);
    expect(fixture.condition('web', 'Ready', 'lab')).toMatchObject({
      status: 'False',
      reason: 'SourceNotAdmitted',
    });
  });

  it('watches only the configured namespaces', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web', {}, 'shop');
    fixture.apply('web', {}, 'lab');
    fixture.start({ namespaces: '[lab]' });

    await fixture.shows('web', 'Ready True Ready', 'lab');

    expect(new Set(fixture.requests())).toEqual(new Set(['list lab', 'watch lab', 'patch status']));
    expect(fixture.status('web', 'shop')).toEqual({});
    expect(fixture.replicas('web', 'shop')).toBe(3);
  });

  it('reports why it does not work without any credentials of the service', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web');
    const header = 'Bearer sesame-4711';
    fixture.start({
      sources: `{ default: { urls: ['http://127.0.0.1:9'], headers: { Authorization: '${header}' } } }`,
    });

    await fixture.shows('web', 'Ready False FailedGetExternalMetric');

    expect(fixture.condition('web', 'Ready')?.message).toContain('External metric load');
    expect(JSON.stringify(fixture.status('web'))).not.toContain('sesame');
  });

  it('writes no status with --dry-run', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web');
    const service = fixture.start({ args: ['--dry-run'] });
    await eventually(() => service.written.stderr.includes('"dry-run"'), 'a decision to be held back');

    await fixture.rounds(5);

    expect(fixture.statusWrites()).toBe(0);
  });

  it('watches the objects as a standby, writes nothing, and acts as soon as it leads', async () => {
    const fixture = await ResourceFixture.create();
    const noLease = fixture.simulator.faults.add({ resource: 'leases' }, { kind: 'refuse', status: 500 });
    fixture.apply('web');
    fixture.start({ config: 'leaderElection: { enabled: true }', env: { POD_NAMESPACE: 'monitoring' } });
    await eventually(() => fixture.requests().includes('watch'), 'the objects to be watched');
    const attempts = (): number =>
      fixture.simulator.requests().filter(({ resource }) => resource === 'leases').length;
    const before = attempts();
    await eventually(() => attempts() >= before + 4, 'four more attempts to take the Lease');
    expect(fixture.requests()).toEqual(['list', 'watch']);

    noLease();

    await fixture.shows('web', 'Ready True Ready');
  });

  it('writes nothing while nothing changes', async () => {
    const fixture = await ResourceFixture.create();
    fixture.apply('web', { minReplicas: 4 });
    fixture.start();
    await fixture.shows('web', 'Ready True Ready');
    // The message of the change is replaced once, a minute later.
    await eventually(
      () =>
        fixture.condition('web', 'AbleToScale')?.reason === 'ReadyForNewScale' &&
        fixture.status('web')['state'] !== 'Starting',
      'it to settle, and its new pod to be ready',
    );
    await fixture.rounds(5);
    const before = fixture.statusWrites();

    await fixture.rounds(20);

    expect(fixture.statusWrites()).toBe(before);
  });
});
