import { describe, expect, it } from '@jest/globals';
import { DEPLOYMENTS, PODS, WEB, pass, send, startCluster, namesOfEvents, watch } from '../cluster.js';

const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

describe('a server that starts', () => {
  it('answers 403 as RBAC does for 1 s, then according to its rules', async () => {
    const rbac = { admin: { user: 'admin', rules } };
    const { simulator, clock } = await startCluster({ workloads: [WEB], rbac, startingSeconds: 1 });
    const read = () => send(simulator, 'GET', `${DEPLOYMENTS}/web`, { token: 'admin' });

    const first = await read();
    const stranger = await send(simulator, 'GET', DEPLOYMENTS, { token: 'nobody' });
    await pass(clock, 0.999);
    const still = await read();
    await pass(clock, 0.001);

    expect([first.code, stranger.code, still.code, (await read()).code]).toEqual([403, 401, 403, 200]);
    expect(first.body['message']).toBe(
      'deployments.apps "web" is forbidden: User "admin" cannot get resource "deployments" in API group "apps" in the namespace "shop"',
    );
    expect(simulator.requests().map(({ code }) => code)).toEqual([403, 401, 403, 200]);
  });

  it('does so for selected requests, as a fault', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const end = simulator.faults.add({ resource: 'pods' }, { kind: 'forbid' });

    const pods = await send(simulator, 'GET', PODS);
    const deployments = await send(simulator, 'GET', DEPLOYMENTS);
    end();

    expect([pods.code, deployments.code, (await send(simulator, 'GET', PODS)).code]).toEqual([403, 200, 200]);
  });
});

describe('API priority and fairness', () => {
  it('answers 429 in plain text with Retry-After, and applies nothing', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    simulator.faults.add({ verbs: ['patch'] }, { kind: 'throttle', retryAfterSeconds: 3 }, 1);
    const patch = () =>
      send(simulator, 'PATCH', `${DEPLOYMENTS}/web/scale`, { body: { spec: { replicas: 5 } } });

    const refused = await patch();
    const untouched = simulator.describe(WEB).replicas;

    expect([refused.code, refused.headers.get('retry-after'), untouched]).toEqual([429, '3', 3]);
    expect(refused.body['text']).toBe('Too many requests, please try again later.\n');
    expect((await patch()).code).toBe(200);
  });
});

describe('a watch from before a compaction', () => {
  it('is answered 200, then an ERROR event with 410', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    simulator.compact();

    const opened = await watch(simulator, PODS, 'resourceVersion=1');
    while (!opened.hasEnded()) await new Promise((resolve) => setImmediate(resolve));

    expect([opened.code, namesOfEvents(opened.events)]).toEqual([200, ['ERROR 410']]);
  });
});
