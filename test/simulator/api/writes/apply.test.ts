import { describe, expect, it } from '@jest/globals';
import {
  type JsonObject,
  listAt,
  numberAt,
  stringAt,
  valueAt,
} from '../../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../../src/simulator/simulator.js';
import { type Answer, DEPLOYMENTS, WEB, send, startCluster } from '../../cluster.js';

const MAPS = '/api/v1/namespaces/shop/configmaps';
const WEB_PATH = `${DEPLOYMENTS}/web`;

function apply(simulator: Simulator, path: string, body: JsonObject, query: string): Promise<Answer> {
  return send(simulator, 'PATCH', `${path}?${query}`, { body, type: 'application/apply-patch+yaml' });
}

function configMap(data: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'state' }, data };
}

/** Returns `MANAGER OPERATION: fieldsV1` of each owner. */
function owners(body: JsonObject): Readonly<Record<string, unknown>> {
  const entries = listAt(body, 'metadata', 'managedFields').map((entry) => [
    `${stringAt(entry, 'manager') ?? ''} ${stringAt(entry, 'operation') ?? ''}`,
    valueAt(entry, 'fieldsV1'),
  ]);
  return Object.fromEntries(entries) as Readonly<Record<string, unknown>>;
}

describe('server-side apply', () => {
  it('creates the object, and owns only the applied fields', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });

    const made = await apply(simulator, `${MAPS}/state`, configMap({ a: '1' }), 'fieldManager=x');

    expect(made.code).toBe(201);
    expect(owners(made.body)).toEqual({ 'x Apply': { 'f:data': { 'f:a': {} } } });
  });

  it('shares a field with the same value, removes one that its only owner omits, and keeps the rest', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    await apply(simulator, `${MAPS}/state`, configMap({ a: '1', b: '2', c: '3' }), 'fieldManager=x');
    await apply(simulator, `${MAPS}/state`, configMap({ a: '1' }), 'fieldManager=y');

    const { code, body } = await apply(simulator, `${MAPS}/state`, configMap({ c: '3' }), 'fieldManager=x');

    expect([code, body['data']]).toEqual([200, { a: '1', c: '3' }]);
    expect(owners(body)).toEqual({
      'x Apply': { 'f:data': { 'f:c': {} } },
      'y Apply': { 'f:data': { 'f:a': {} } },
    });
  });

  it('rejects another value for a field of another manager, and accepts it with force', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    await apply(simulator, `${MAPS}/state`, configMap({ a: '1' }), 'fieldManager=x');

    const refused = await apply(simulator, `${MAPS}/state`, configMap({ a: '2' }), 'fieldManager=y');
    const forced = await apply(
      simulator,
      `${MAPS}/state`,
      configMap({ a: '2' }),
      'fieldManager=y&force=true',
    );

    expect([refused.code, forced.code]).toEqual([409, 200]);
    expect(refused.body['details']).toEqual({
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "x"', field: '.data.a' }],
    });
    expect(owners(forced.body)).toEqual({ 'y Apply': { 'f:data': { 'f:a': {} } } });
  });

  it('changes nothing when it is repeated', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    const first = await apply(simulator, `${MAPS}/state`, configMap({ a: '1' }), 'fieldManager=x');

    const again = await apply(simulator, `${MAPS}/state`, configMap({ a: '1' }), 'fieldManager=x');

    expect(again.body).toEqual(first.body);
  });

  it('names the manager that scaled through /scale, and keeps replicas that are not applied', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    await send(simulator, 'PATCH', `${WEB_PATH}/scale?fieldManager=promscaler`, {
      body: { spec: { replicas: 5 } },
    });
    const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };

    const conflict = await apply(
      simulator,
      WEB_PATH,
      { ...manifest, spec: { replicas: 3 } },
      'fieldManager=x',
    );
    const silent = await apply(
      simulator,
      WEB_PATH,
      { ...manifest, spec: { paused: true } },
      'fieldManager=x',
    );

    expect(listAt(conflict.body, 'details', 'causes')).toEqual([
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "promscaler" with subresource "scale" using apps/v1',
        field: '.spec.replicas',
      },
    ]);
    expect([silent.code, numberAt(silent.body, 'spec', 'replicas')]).toEqual([200, 5]);
  });

  it('merges containers by name and ports with their default protocol', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const container = { name: 'app', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] };
    const body = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { template: { spec: { containers: [container] } } },
    };

    await apply(simulator, WEB_PATH, body, 'fieldManager=x');
    const again = await apply(simulator, WEB_PATH, body, 'fieldManager=x');

    expect(listAt(again.body, 'spec', 'template', 'spec', 'containers')).toMatchObject([
      {
        name: 'app',
        resources: { requests: { cpu: '500m' } },
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        env: [{ name: 'A', value: '1' }],
      },
    ]);
    expect(numberAt(again.body, 'metadata', 'generation')).toBe(2);
  });

  it.each([
    ['without a manager', configMap({}), 'x=1', 422],
    ['with force=true on another patch', configMap({}), 'merge', 422],
    ['of another kind', { ...configMap({}), kind: 'Secret' }, 'fieldManager=x', 400],
    ['under another name', { ...configMap({}), metadata: { name: 'other' } }, 'fieldManager=x', 400],
    ['with an unknown field', { ...configMap({}), datta: {} }, 'fieldManager=x', 400],
    [
      'with its own owners',
      { ...configMap({}), metadata: { name: 'state', managedFields: [{ manager: 'x' }] } },
      'fieldManager=x',
      400,
    ],
  ])('rejects a configuration %s', async (_, body, query, code) => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });

    const answer =
      query === 'merge'
        ? await send(simulator, 'PATCH', `${MAPS}/state?force=true`, { body })
        : await apply(simulator, `${MAPS}/state`, body, query);

    expect(answer.code).toBe(code);
    expect(simulator.listObjects('/configmaps')).toEqual([]);
  });
});
