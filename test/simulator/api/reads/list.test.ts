import { describe, expect, it } from '@jest/globals';
import { listAt, stringAt, valueAt } from '../../../../src/simulator/kinds/json.js';
import { eventually } from '../../../support/manual-clock.js';
import { DEPLOYMENTS, PODS, WEB, names, pass, send, startCluster } from '../../cluster.js';

const FIVE = Array.from({ length: 5 }, (_, i) => ({ ...WEB, name: `web-${i}`, replicas: 1 }));

describe('reading objects', () => {
  it('returns a deployment with its status, and 404 with a Status for a missing one', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const found = await send(simulator, 'GET', `${DEPLOYMENTS}/web`);
    const missing = await send(simulator, 'GET', `${DEPLOYMENTS}/nothing`);

    expect(found.code).toBe(200);
    expect(found.body['status']).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      updatedReplicas: 3,
      observedGeneration: 1,
    });
    expect(missing.code).toBe(404);
    expect(missing.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'deployments.apps "nothing" not found',
      reason: 'NotFound',
      details: { name: 'nothing', group: 'apps', kind: 'deployments' },
      code: 404,
    });
  });

  it('answers 404 for an unknown path', async () => {
    const { simulator } = await startCluster();

    expect((await send(simulator, 'GET', '/apis/nothing/v1/things')).code).toBe(404);
  });

  it('lists one namespace or all', async () => {
    const { simulator } = await startCluster({ workloads: [WEB, { ...WEB, namespace: 'other' }] });

    expect(names((await send(simulator, 'GET', DEPLOYMENTS)).body)).toEqual(['web']);
    expect(names((await send(simulator, 'GET', '/apis/apps/v1/deployments')).body)).toEqual(['web', 'web']);
  });

  it.each([
    ['labelSelector=app%3Dweb-1', ['web-1']],
    ['labelSelector=app%20in%20(web-1,web-2),app!%3Dweb-2', ['web-1']],
    ['labelSelector=!app', []],
    ['fieldSelector=metadata.name%3Dweb-3', ['web-3']],
    ['fieldSelector=metadata.name!%3Dweb-3,metadata.namespace%3Dshop', ['web-0', 'web-1', 'web-2', 'web-4']],
  ])('selects by %s', async (query, expected) => {
    const { simulator } = await startCluster({ workloads: FIVE });

    expect(names((await send(simulator, 'GET', `${DEPLOYMENTS}?${query}`)).body)).toEqual(expected);
  });

  it('selects pods by status.phase', async () => {
    const { simulator, clock } = await startCluster({
      workloads: [WEB, { ...WEB, name: 'new', replicas: 2, podAgeSeconds: null }],
    });
    await pass(clock, 1);
    const ask = async (phase: string) =>
      names((await send(simulator, 'GET', `${PODS}?fieldSelector=status.phase%3D${phase}`)).body);

    expect(await ask('Running')).toHaveLength(3);
    expect(await ask('Pending')).toHaveLength(2);
  });

  it('returns pages of 2 at one revision, even while objects are added and deleted', async () => {
    const { simulator } = await startCluster({ workloads: FIVE });

    const first = await send(simulator, 'GET', `${DEPLOYMENTS}?limit=2`);
    await send(simulator, 'DELETE', `${DEPLOYMENTS}/web-4`);
    const token = stringAt(first.body, 'metadata', 'continue') ?? '';
    const second = await send(simulator, 'GET', `${DEPLOYMENTS}?limit=2&continue=${token}`);
    const third = await send(
      simulator,
      'GET',
      `${DEPLOYMENTS}?limit=2&continue=${stringAt(second.body, 'metadata', 'continue') ?? ''}`,
    );

    expect(valueAt(first.body, 'metadata', 'remainingItemCount')).toBe(3);
    expect([first, second, third].map(({ body }) => names(body))).toEqual([
      ['web-0', 'web-1'],
      ['web-2', 'web-3'],
      ['web-4'],
    ]);
    expect(stringAt(third.body, 'metadata', 'resourceVersion')).toBe(
      stringAt(first.body, 'metadata', 'resourceVersion'),
    );
    expect(stringAt(third.body, 'metadata', 'continue')).toBeNull();
  });

  it('answers 410 with another token for a page token from before a compaction', async () => {
    const { simulator } = await startCluster({ workloads: FIVE });
    const first = await send(simulator, 'GET', `${DEPLOYMENTS}?limit=2`);

    simulator.compact();
    const token = stringAt(first.body, 'metadata', 'continue') ?? '';
    const second = await send(simulator, 'GET', `${DEPLOYMENTS}?limit=2&continue=${token}`);
    const inconsistent = stringAt(second.body, 'metadata', 'continue') ?? '';
    const rest = await send(simulator, 'GET', `${DEPLOYMENTS}?continue=${inconsistent}`);

    expect(second.code).toBe(410);
    expect(second.body['reason']).toBe('Expired');
    expect(names(rest.body)).toEqual(['web-2', 'web-3', 'web-4']);
    const present = await send(simulator, 'GET', DEPLOYMENTS);
    expect(stringAt(rest.body, 'metadata', 'resourceVersion')).toBe(
      stringAt(present.body, 'metadata', 'resourceVersion'),
    );
  });

  it('rejects a page token together with a resourceVersion', async () => {
    const { simulator } = await startCluster({ workloads: FIVE });
    const first = await send(simulator, 'GET', `${DEPLOYMENTS}?limit=2`);
    const token = stringAt(first.body, 'metadata', 'continue') ?? '';

    expect((await send(simulator, 'GET', `${DEPLOYMENTS}?continue=${token}&resourceVersion=1`)).code).toBe(
      400,
    );
  });

  it('supports resourceVersion unset, 0 and NotOlderThan, and answers 504 for one that is not reached within 3 s', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const now = Number(
      stringAt((await send(simulator, 'GET', DEPLOYMENTS)).body, 'metadata', 'resourceVersion'),
    );
    const ask = async (query: string) => send(simulator, 'GET', `${DEPLOYMENTS}?${query}`);

    expect((await ask('resourceVersion=0')).code).toBe(200);
    expect((await ask(`resourceVersion=${now}&resourceVersionMatch=NotOlderThan`)).code).toBe(200);
    const timers = clock.pending;
    const asking = ask(`resourceVersion=${now + 1}&resourceVersionMatch=NotOlderThan`);
    await eventually(() => clock.pending > timers, 'a request that waits');
    clock.advance(3000);
    const tooLarge = await asking;
    expect(tooLarge.code).toBe(504);
    expect(tooLarge.body['message']).toBe(`Timeout: Too large resource version: ${now + 1}, current: ${now}`);
    expect(tooLarge.body['details']).toEqual({
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
  });

  it('answers a read of a future version as soon as it is reached', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const { body } = await send(simulator, 'GET', DEPLOYMENTS);
    const next = Number(stringAt(body, 'metadata', 'resourceVersion')) + 1;

    const timers = clock.pending;
    const asking = send(simulator, 'GET', `${DEPLOYMENTS}?resourceVersion=${next}`);
    await eventually(() => clock.pending > timers, 'a request that waits');
    simulator.setReplicas(WEB, 4);

    expect((await asking).code).toBe(200);
  });

  it('answers a table with the columns of kubectl get', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const response = await fetch(simulator.url + DEPLOYMENTS, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const table = (await response.json()) as Parameters<typeof listAt>[0];

    expect(
      listAt(table, 'columnDefinitions')
        .map((column) => stringAt(column, 'name'))
        .slice(0, 5),
    ).toEqual(['Name', 'Ready', 'Up-to-date', 'Available', 'Age']);
    expect(listAt(table, 'rows', 0, 'cells').slice(0, 5)).toEqual(['web', '3/3', 3, 3, '60m']);
  });
});
