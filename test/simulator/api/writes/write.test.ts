import { describe, expect, it } from '@jest/globals';
import {
  type JsonObject,
  listAt,
  numberAt,
  stringAt,
  valueAt,
} from '../../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../../src/simulator/simulator.js';
import { DEPLOYMENTS, WEB, send, startCluster } from '../../cluster.js';

const SCALE = `${DEPLOYMENTS}/web/scale`;

async function identity(
  simulator: Simulator,
): Promise<{ readonly uid: string; readonly resourceVersion: string }> {
  const { body } = await send(simulator, 'GET', SCALE);
  return {
    uid: stringAt(body, 'metadata', 'uid') ?? '',
    resourceVersion: stringAt(body, 'metadata', 'resourceVersion') ?? '',
  };
}

describe('the scale subresource', () => {
  it('has replicas, status and selector, and omits spec.replicas if it is 0', async () => {
    const { simulator } = await startCluster({ workloads: [WEB, { ...WEB, name: 'idle', replicas: 0 }] });

    const web = await send(simulator, 'GET', SCALE);
    const idle = await send(simulator, 'GET', `${DEPLOYMENTS}/idle/scale`);

    expect(web.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 3 },
      status: { replicas: 3, selector: 'app=web' },
    });
    expect(idle.body['spec']).toEqual({});
    expect(idle.body['status']).toEqual({ replicas: 0, selector: 'app=idle' });
  });

  it('accepts a merge-patch with uid and resourceVersion and increments the generation', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const metadata = await identity(simulator);

    const answer = await send(simulator, 'PATCH', `${SCALE}?fieldManager=promscaler`, {
      body: { metadata, spec: { replicas: 5 } },
    });
    const { body } = await send(simulator, 'GET', `${DEPLOYMENTS}/web`);

    expect(answer.code).toBe(200);
    expect(valueAt(answer.body, 'spec', 'replicas')).toBe(5);
    expect(numberAt(body, 'metadata', 'generation')).toBe(2);
    const owners = listAt(body, 'metadata', 'managedFields').filter(
      (entry) => valueAt(entry, 'fieldsV1', 'f:spec', 'f:replicas') !== undefined,
    );
    expect(owners).toMatchObject([
      { manager: 'promscaler', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]);
  });

  it('answers 409 for a stale resourceVersion and for another uid, and changes nothing', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const metadata = await identity(simulator);
    const spec = { replicas: 5 };

    const stale = await send(simulator, 'PATCH', SCALE, {
      body: { metadata: { ...metadata, resourceVersion: '1' }, spec },
    });
    const foreign = await send(simulator, 'PATCH', SCALE, {
      body: { metadata: { ...metadata, uid: 'another' }, spec },
    });

    expect(stale.code).toBe(409);
    expect(stale.body['message']).toBe(
      'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again',
    );
    expect(foreign.code).toBe(409);
    expect(foreign.body['message']).toContain(
      'Precondition failed: UID in precondition: another, UID in object meta: ',
    );
    expect((await identity(simulator)).resourceVersion).toBe(metadata.resourceVersion);
  });

  it('keeps the resourceVersion if nothing changes', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const before = await identity(simulator);

    await send(simulator, 'PATCH', SCALE, { body: { spec: { replicas: 3 } } });

    expect(await identity(simulator)).toEqual(before);
  });

  it('rejects -1, 1.5 and a string with 422 and the cause of each', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const negative = await send(simulator, 'PATCH', SCALE, { body: { spec: { replicas: -1 } } });
    const fraction = await send(simulator, 'PATCH', SCALE, { body: { spec: { replicas: 1.5 } } });
    const text = await send(simulator, 'PATCH', SCALE, { body: { spec: { replicas: 'three' } } });
    const put = await send(simulator, 'PUT', SCALE, { body: { spec: { replicas: 1.5 } } });

    expect([negative.code, fraction.code, text.code, put.code]).toEqual([422, 422, 422, 400]);
    expect(negative.body['reason']).toBe('Invalid');
    const fields = [negative, fraction, text].map(({ body }) =>
      stringAt(body, 'details', 'causes', 0, 'field'),
    );
    expect(fields).toEqual(['spec.replicas', 'patch', 'patch']);
  });

  it.each([
    ['StatefulSet', '/apis/apps/v1/namespaces/shop/statefulsets'],
    ['ReplicaSet', '/apis/apps/v1/namespaces/shop/replicasets'],
    ['ReplicationController', '/api/v1/namespaces/shop/replicationcontrollers'],
    ['Rollout', '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts'],
  ] as const)('exists for a %s, with its selector', async (kind, path) => {
    const { simulator } = await startCluster({ workloads: [{ ...WEB, kind }] });

    const answer = await send(simulator, 'PATCH', `${path}/web/scale`, { body: { spec: { replicas: 4 } } });

    expect(answer.body).toMatchObject({
      spec: { replicas: 4 },
      status: { replicas: 3, selector: 'app=web' },
    });
  });

  it('accepts a PUT and a JSON patch; a failed test is 422', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const scale = (await send(simulator, 'GET', SCALE)).body;
    const type = 'application/json-patch+json';

    const put = await send(simulator, 'PUT', SCALE, { body: { ...scale, spec: { replicas: 4 } } });
    const stale = await send(simulator, 'PUT', SCALE, { body: { ...scale, spec: { replicas: 6 } } });
    const patch = [
      { op: 'test', path: '/spec/replicas', value: 4 },
      { op: 'replace', path: '/spec/replicas', value: 7 },
    ];
    const first = await send(simulator, 'PATCH', SCALE, { body: patch, type });
    const again = await send(simulator, 'PATCH', SCALE, { body: patch, type });

    expect([put.code, stale.code, first.code, again.code]).toEqual([200, 409, 200, 422]);
  });
});

describe('writing objects', () => {
  const MAPS = '/api/v1/namespaces/shop/configmaps';

  it('creates once, answers 409 the second time and 404 in a missing namespace', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    const body = { metadata: { name: 'state' }, data: { a: '1' } };

    const first = await send(simulator, 'POST', MAPS, { body });
    const second = await send(simulator, 'POST', MAPS, { body });
    const nowhere = await send(simulator, 'POST', '/api/v1/namespaces/none/configmaps', { body });

    expect([first.code, second.code, nowhere.code]).toEqual([201, 409, 404]);
    expect(second.body['reason']).toBe('AlreadyExists');
    expect(nowhere.body['message']).toBe('namespaces "none" not found');
  });

  it('updates a lease only with its resourceVersion', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    const leases = '/apis/coordination.k8s.io/v1/namespaces/shop/leases';
    const created = (
      await send(simulator, 'POST', leases, {
        body: { metadata: { name: 'leader' }, spec: { holderIdentity: 'a' } },
      })
    ).body;
    const held = (by: string): JsonObject => ({ ...created, spec: { holderIdentity: by } });

    const first = await send(simulator, 'PUT', `${leases}/leader`, { body: held('b') });
    const second = await send(simulator, 'PUT', `${leases}/leader`, { body: held('c') });

    expect([first.code, second.code]).toEqual([200, 409]);
    expect(stringAt((await send(simulator, 'GET', `${leases}/leader`)).body, 'spec', 'holderIdentity')).toBe(
      'b',
    );
  });

  it('keeps the status on a write of the object and the spec on a write of the status', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    await send(simulator, 'PATCH', `${DEPLOYMENTS}/web`, { body: { status: { replicas: 99 } } });
    await send(simulator, 'PATCH', `${DEPLOYMENTS}/web/status`, {
      body: { spec: { replicas: 99 }, status: { collisionCount: 7 } },
    });
    const { body } = await send(simulator, 'GET', `${DEPLOYMENTS}/web`);

    expect(valueAt(body, 'spec', 'replicas')).toBe(3);
    expect(body['status']).toMatchObject({ replicas: 3, collisionCount: 7 });
  });

  it('merges containers by name in a strategic merge patch, and rejects one for a custom resource', async () => {
    const { simulator } = await startCluster({
      workloads: [WEB, { ...WEB, kind: 'Rollout', name: 'canary' }],
    });
    const body = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } } };
    const type = 'application/strategic-merge-patch+json';

    const answer = await send(simulator, 'PATCH', `${DEPLOYMENTS}/web`, { body, type });
    const refused = await send(
      simulator,
      'PATCH',
      '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/canary',
      { body, type },
    );

    expect(valueAt(answer.body, 'spec', 'template', 'spec', 'containers', 0)).toMatchObject({
      name: 'app',
      image: 'app:2',
      resources: { requests: { cpu: '500m' } },
    });
    expect(refused.code).toBe(415);
  });

  it('deletes only if its preconditions hold', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const refused = await send(simulator, 'DELETE', `${DEPLOYMENTS}/web`, {
      body: { preconditions: { uid: 'another' } },
    });
    const done = await send(simulator, 'DELETE', `${DEPLOYMENTS}/web`);

    expect([refused.code, done.code]).toEqual([409, 200]);
    expect((await send(simulator, 'GET', `${DEPLOYMENTS}/web`)).code).toBe(404);
  });

  it('serves an event in both groups', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const regarding = { kind: 'Deployment', namespace: 'shop', name: 'web' };
    const body = {
      metadata: { name: 'web.1' },
      regarding,
      reason: 'SuccessfulRescale',
      note: 'New size: 5',
      type: 'Normal',
      reportingController: 'promscaler',
      reportingInstance: 'promscaler-0',
      action: 'Rescale',
      eventTime: '2026-01-01T00:00:00.000000Z',
    };

    const created = await send(simulator, 'POST', '/apis/events.k8s.io/v1/namespaces/shop/events', { body });
    const core = await send(
      simulator,
      'GET',
      '/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name%3Dweb,involvedObject.kind%3DDeployment',
    );
    const again = await send(simulator, 'PATCH', '/apis/events.k8s.io/v1/namespaces/shop/events/web.1', {
      body: { series: { count: 2, lastObservedTime: '2026-01-01T00:00:05.000000Z' } },
    });

    expect(created.body).toMatchObject({ apiVersion: 'events.k8s.io/v1', regarding, note: 'New size: 5' });
    expect(listAt(core.body, 'items')).toMatchObject([
      { involvedObject: regarding, message: 'New size: 5', reportingComponent: 'promscaler' },
    ]);
    expect(again.body).toMatchObject({ series: { count: 2 }, note: 'New size: 5' });
  });
});
