import { describe, expect, it } from '@jest/globals';
import { type MemberLeases, type SeenMember, isPeerAddress } from '../../src/kubernetes/member-leases.js';
import { withReleasePods } from '../../src/kubernetes/release-pods.js';
import { KubernetesError } from '../../src/kubernetes/api/types.js';
import { ManualClock } from '../support/manual-clock.js';

function lease(identity: string, address: string | null = null): SeenMember {
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: 15,
    acquireTime: null,
    renewTime: null,
    leaseTransitions: 0,
  };
  return { name: `promscaler-${identity}`, spec, buckets: [], address, text: '', object: {} };
}

/** Leases and pods, by name with their IPs; null: the pods are forbidden. */
function start(leases: readonly SeenMember[], pods: Readonly<Record<string, string>> | null) {
  const clock = new ManualClock();
  const state = { leases, pods, asked: 0 };
  const silent = (): void => undefined;
  const unused = (): never => {
    throw new Error('not used');
  };
  const client: MemberLeases = {
    name: 'monitoring/promscaler',
    list: () => Promise.resolve(state.leases),
    create: unused,
    update: unused,
    remove: unused,
  };
  const checked = withReleasePods(client, {
    transport: {
      request: ({ path, query }) => {
        expect([path, query?.['labelSelector']]).toEqual(['/api/v1/namespaces/monitoring/pods', 'app=x']);
        state.asked += 1;
        if (state.pods === null) return Promise.reject(new KubernetesError('forbidden', 'forbidden'));
        const items = Object.entries(state.pods).map(([name, podIP]) => ({
          metadata: { name },
          status: { podIP },
        }));
        return Promise.resolve({ kind: 'PodList', items });
      },
    } as Parameters<typeof withReleasePods>[1]['transport'],
    namespace: 'monitoring',
    selector: 'app=x',
    ownPod: 'pod-a',
    clock,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    deadlineMs: 1000,
  });
  const list = async (): Promise<readonly (readonly [string, string | null])[]> =>
    (await checked.list(new AbortController().signal)).map(({ spec, address }) => [
      spec.holderIdentity,
      address,
    ]);
  return { state, clock, list };
}

const AT = (ip: string): string => `http://${ip}:8080`;

describe('the Leases of members, checked by the pods of the release', () => {
  it('are those of its pods, released ones, and have an address only at the IP of their pod', async () => {
    const leases = [
      lease('pod-a_1', AT('10.0.0.1')),
      lease('pod-b_2', AT('6.6.6.6')),
      lease('evil_3'),
      lease(''),
    ];
    const { list, state } = start(leases, { 'pod-a': '10.0.0.1', 'pod-b': '10.0.0.2' });

    expect(await list()).toEqual([
      ['pod-a_1', AT('10.0.0.1')],
      ['pod-b_2', null],
      ['', null],
    ]);
    await list();
    expect(state.asked).toBe(1);
  });

  it('are checked again at once for a new holder, and every 8 s', async () => {
    const { list, state, clock } = start([lease('pod-a_1'), lease('evil_3')], { 'pod-a': '10.0.0.1' });
    await list();
    state.pods = { 'pod-a': '10.0.0.1', 'pod-b': '10.0.0.2' };
    state.leases = [...state.leases, lease('pod-b_2')];

    expect((await list()).map(([identity]) => identity)).toEqual(['pod-a_1', 'pod-b_2']);
    clock.advance(7999);
    await list();
    expect(state.asked).toBe(2);
    clock.advance(1);
    await list();
    expect(state.asked).toBe(3);
  });

  it.each([
    ['the pods are forbidden', null],
    ['the selector does not select the own pod', { 'pod-b': '10.0.0.2' }],
  ])('are all of them, if %s', async (_, pods) => {
    const { list } = start([lease('pod-a_1'), lease('evil_3')], pods);

    expect((await list()).map(([identity]) => identity)).toEqual(['pod-a_1', 'evil_3']);
  });

  it('do not have the own one after the own pod was deleted', async () => {
    const { list, state, clock } = start([lease('pod-a_1'), lease('pod-b_2')], {
      'pod-a': '1',
      'pod-b': '2',
    });
    await list();
    state.pods = { 'pod-b': '2' };
    clock.advance(8000);

    expect((await list()).map(([identity]) => identity)).toEqual(['pod-b_2']);
  });
});

describe('the address of another replica', () => {
  it.each([
    ['http://10.0.0.2:8080', true],
    ['http://[fd00::2]:8080', true],
    ['http://10.0.0.2:8081', false],
    ['http://10.0.0.1:8080', false],
    ['http://127.0.0.1:8080', false],
    ['http://169.254.169.254:8080', false],
    ['http://0.0.0.0:8080', false],
    ['http://239.0.0.1:8080', false],
    ['http://[::1]:8080', false],
    ['http://[fe80::1]:8080', false],
    ['http://[fd00:ec2::254]:8080', false],
    ['http://[::ffff:10.0.0.2]:8080', false],
  ])('%s is believed by a pod: %j', (address, expected) => {
    expect(isPeerAddress(address, 'http://10.0.0.1:8080')).toBe(expected);
  });

  it.each([
    ['http://127.0.0.1:9000', true],
    ['http://10.0.0.2:8080', false],
  ])('%s is believed by a process that listens on its own machine only: %j', (address, expected) => {
    expect(isPeerAddress(address, 'http://127.0.0.1:8080')).toBe(expected);
  });
});
