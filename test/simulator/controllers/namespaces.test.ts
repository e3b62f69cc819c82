import { describe, expect, it } from '@jest/globals';
import { type JsonObject, stringAt } from '../../../src/simulator/kinds/json.js';
import { WEB, names, pass, send, startCluster, namesOfEvents, watch } from '../cluster.js';

const SHOP = '/api/v1/namespaces/shop';
const CONFIG_MAPS = `${SHOP}/configmaps`;

function manifest(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}

describe('a deleted namespace', () => {
  it('is Terminating while its pods take 2 s to end, then all its objects are removed with it', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB], namespaces: ['other'] });
    await send(simulator, 'POST', CONFIG_MAPS, { body: manifest('settings') });
    const watching = await watch(simulator, '/api/v1/namespaces');

    const deleted = await send(simulator, 'DELETE', SHOP);
    await pass(clock, 1);
    const meanwhile = await send(simulator, 'GET', SHOP);
    const podsMeanwhile = simulator.listObjects('/pods', 'shop').length;
    await pass(clock, 2);
    const after = await send(simulator, 'GET', SHOP);

    expect([deleted, meanwhile, after].map(({ code }) => code)).toEqual([200, 200, 404]);
    expect(stringAt(deleted.body, 'status', 'phase')).toBe('Terminating');
    expect(stringAt(meanwhile.body, 'metadata', 'deletionTimestamp')).toBe('2026-01-01T00:00:00Z');
    expect(podsMeanwhile).toBe(3);
    for (const resource of ['/pods', 'apps/replicasets', 'apps/deployments', '/configmaps', '/events'])
      expect({ resource, left: simulator.listObjects(resource, 'shop') }).toEqual({ resource, left: [] });
    expect(names((await send(simulator, 'GET', '/api/v1/namespaces')).body)).toContain('other');
    expect(namesOfEvents(watching.events).slice(-2)).toEqual(['MODIFIED shop', 'DELETED shop']);
    watching.close();
  });

  it('rejects new objects while it is Terminating, with the message of the real server', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    await send(simulator, 'DELETE', SHOP);

    const { code, body } = await send(simulator, 'POST', CONFIG_MAPS, { body: manifest('late') });

    expect(code).toBe(403);
    expect(stringAt(body, 'message')).toBe(
      'configmaps "late" is forbidden: unable to create new content in namespace shop because it is being terminated',
    );
  });

  it('waits 30 s at most for objects whose owner does not delete them', async () => {
    const stuck = { startSeconds: 0, readySeconds: 0, terminationSeconds: Number.POSITIVE_INFINITY };
    const { simulator, clock } = await startCluster({ workloads: [{ ...WEB, behavior: { timing: stuck } }] });
    await send(simulator, 'DELETE', SHOP);

    await pass(clock, 29.9);
    const before = await send(simulator, 'GET', SHOP);
    await pass(clock, 0.5);

    expect(before.code).toBe(200);
    expect((await send(simulator, 'GET', SHOP)).code).toBe(404);
  });

  it('can be recreated with the same name', async () => {
    const { simulator, clock } = await startCluster({ namespaces: ['shop'] });
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    await send(simulator, 'DELETE', SHOP);

    const early = await send(simulator, 'POST', '/api/v1/namespaces', { body });
    await pass(clock, 1);
    const late = await send(simulator, 'POST', '/api/v1/namespaces', { body });

    expect([early.code, late.code]).toEqual([409, 201]);
  });
});
