import { describe, expect, it } from '@jest/globals';
import { makeManifest } from '../../../src/simulator/controllers/manifests.js';
import { numberAt, valueAt } from '../../../src/simulator/kinds/json.js';
import { DEPLOYMENTS, WEB, names, send, startCluster } from '../cluster.js';

const WEB_PATH = `${DEPLOYMENTS}/web`;
const DRY = '?dryRun=All';

describe('dryRun=All', () => {
  it('answers a patch, a create and a delete as if they were applied, and stores nothing', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const before = await send(simulator, 'GET', WEB_PATH);
    const manifest = makeManifest({ ...WEB, name: 'new' });

    const patched = await send(simulator, 'PATCH', WEB_PATH + DRY, { body: { spec: { replicas: 9 } } });
    const scaled = await send(simulator, 'PATCH', `${WEB_PATH}/scale${DRY}`, {
      body: { spec: { replicas: 9 } },
    });
    const created = await send(simulator, 'POST', DEPLOYMENTS + DRY, { body: manifest });
    const deleted = await send(simulator, 'DELETE', WEB_PATH + DRY);
    const asked = await send(simulator, 'DELETE', WEB_PATH, { body: { dryRun: ['All'] } });

    expect([patched, scaled, created, deleted, asked].map(({ code }) => code)).toEqual([
      200, 200, 201, 200, 200,
    ]);
    expect([patched, scaled].map(({ body }) => numberAt(body, 'spec', 'replicas'))).toEqual([9, 9]);
    expect((await send(simulator, 'GET', WEB_PATH)).body).toEqual(before.body);
    expect(names((await send(simulator, 'GET', DEPLOYMENTS)).body)).toEqual(['web']);
  });

  it('rejects invalid requests', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const wrong = await send(simulator, 'PATCH', WEB_PATH + DRY, { body: { spec: { replicas: -1 } } });
    const missing = await send(simulator, 'DELETE', `${DEPLOYMENTS}/none${DRY}`);

    expect([wrong.code, missing.code]).toEqual([422, 404]);
    expect(valueAt(wrong.body, 'reason')).toBe('Invalid');
  });
});
