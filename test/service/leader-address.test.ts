import { describe, expect, it } from '@jest/globals';
import { withLeaderAddress } from '../../src/service/open-shards.js';
import type { LeaseClient, LeaseSpec, SeenLease } from '../../src/kubernetes/lease.js';

const SIGNAL = new AbortController().signal;
const ANNOTATION = 'promscaler.dev/leader-address';

function specOf(holderIdentity: string): LeaseSpec {
  return {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: null,
    renewTime: null,
    leaseTransitions: 0,
  };
}

function seen(annotations: Readonly<Record<string, unknown>>): SeenLease {
  return { spec: specOf('a'), rawSpec: '', object: { metadata: { name: 'promscaler', annotations } } };
}

/** A Lease in memory, without its rules. */
function leaseClient(first: SeenLease): { readonly client: LeaseClient; readonly lease: () => SeenLease } {
  let lease = first;
  const client: LeaseClient = {
    name: 'monitoring/promscaler',
    read: () => Promise.resolve(lease),
    create: (spec, _signal, annotations = {}) => Promise.resolve((lease = { ...seen(annotations), spec })),
    update: (next) => Promise.resolve((lease = next)),
  };
  return { client, lease: () => lease };
}

describe('the address of the leader', () => {
  it('is written with each update of the holder, and kept by those of others', async () => {
    const { client, lease } = leaseClient(seen({ mine: 'x' }));
    const own = withLeaderAddress(client, { identity: 'a', address: () => 'http://10.0.0.1:8080' });
    const other = withLeaderAddress(client, { identity: 'b', address: () => 'http://10.0.0.2:8080' });

    await own.client.update(lease(), specOf('a'), SIGNAL);
    await other.client.update(lease(), specOf(''), SIGNAL);

    expect(lease().object['metadata']).toEqual({
      name: 'promscaler',
      annotations: { mine: 'x', [ANNOTATION]: 'a http://10.0.0.1:8080' },
    });
    expect([other.addressOf('a'), other.addressOf('b'), other.addressOf('')]).toEqual([
      'http://10.0.0.1:8080',
      null,
      null,
    ]);
  });

  it('is in a Lease from its creation', async () => {
    const { client, lease } = leaseClient(seen({}));
    const own = withLeaderAddress(client, { identity: 'a', address: () => 'http://10.0.0.1:8080' });
    const early = withLeaderAddress(client, { identity: 'b', address: () => null });

    await own.client.create(specOf('a'), SIGNAL);

    expect(lease().object['metadata']).toMatchObject({
      annotations: { [ANNOTATION]: 'a http://10.0.0.1:8080' },
    });
    expect(own.addressOf('a')).toBe('http://10.0.0.1:8080');
    await early.client.create(specOf('b'), SIGNAL);
    expect(lease().object['metadata']).toMatchObject({ annotations: {} });
    expect(early.addressOf('b')).toBeNull();
  });

  it('is not written by a replica without an address', async () => {
    const { client, lease } = leaseClient(seen({}));
    const { client: own } = withLeaderAddress(client, { identity: 'a', address: () => null });

    await own.update(lease(), specOf('a'), SIGNAL);

    expect(lease().object['metadata']).toEqual({ name: 'promscaler', annotations: {} });
  });

  it.each([
    ['a', null],
    ['a http://10.0.0.1:8080 more', null],
    ['a http://example.com:8080', null],
    ['a https://10.0.0.1:8080', null],
    [`a http://10.0.0.1:8080${' '.repeat(500)}`, null],
    [7, null],
    ['a http://[fd00::1]:8080', 'http://[fd00::1]:8080'],
  ])('%j is read as %j', async (value, address) => {
    const { client } = leaseClient(seen({ [ANNOTATION]: value }));
    const standby = withLeaderAddress(client, { identity: 'b', address: () => null });

    await standby.client.read(SIGNAL);

    expect(standby.addressOf('a')).toBe(address);
  });
});
