import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../src/kubernetes/access/connection.js';
import {
  createLeaseClient,
  microTime,
  type LeaseClient,
  type LeaseSpec,
} from '../../src/kubernetes/lease.js';
import {
  createTransport,
  type RequestReport,
  type Transport,
} from '../../src/kubernetes/requests/transport.js';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { addSeconds, parseInstant } from '../../src/units/time.js';
import { eventually, ManualClock } from '../support/manual-clock.js';
import { failureOf } from './cluster-fixture.js';
import { FakeApiServer, json, status } from './fake-api-server.js';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/monitoring/leases';
const PLACE = `${LEASES}/promscaler`;

const SPEC: LeaseSpec = {
  holderIdentity: 'a_1',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:02.250000Z',
  leaseTransitions: 3,
};

const { signal } = new AbortController();

function clientOf(transport: Transport): LeaseClient {
  return createLeaseClient({ transport, namespace: 'monitoring', name: 'promscaler', deadlineMs: 5000 });
}

describe('microTime', () => {
  it.each([
    [0, '2026-01-01T00:00:00.000000Z'],
    [0.25, '2026-01-01T00:00:00.250000Z'],
    [59.999, '2026-01-01T00:00:59.999000Z'],
  ])('has six digits, %s s after midnight, too', (seconds, text) => {
    const midnight = parseInstant('2026-01-01T00:00:00Z');
    if (midnight === null) throw new Error('no instant');

    expect(microTime(addSeconds(midnight, seconds))).toBe(text);
  });
});

describe('the client of a Lease, on a scripted server', () => {
  let fake: FakeApiServer;
  let clock: ManualClock;
  let transport: Transport;
  let reports: RequestReport[];

  beforeEach(async () => {
    fake = await FakeApiServer.start();
    clock = new ManualClock();
    reports = [];
    transport = createTransport({
      connection: connectTo(fake.url),
      clock,
      onRequest: (report) => reports.push(report),
    });
  });

  afterEach(async () => {
    transport.close();
    await fake.stop();
  });

  const leaseOf = (spec?: object, metadata: object = {}): object => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'promscaler', namespace: 'monitoring', uid: 'u-1', resourceVersion: '7', ...metadata },
    ...(spec === undefined ? {} : { spec }),
  });

  it('reads the fields that are set, and unset ones as empty, null and 0', async () => {
    fake.on('GET', PLACE, json(leaseOf(SPEC)), json(leaseOf({})), json(leaseOf()));
    const client = clientOf(transport);

    const full = await client.read(signal);
    const empty = await client.read(signal);
    const without = await client.read(signal);

    const nobody = {
      holderIdentity: '',
      leaseDurationSeconds: null,
      acquireTime: null,
      renewTime: null,
      leaseTransitions: 0,
    };
    expect([full?.spec, empty?.spec, without?.spec]).toEqual([SPEC, nobody, nobody]);
    expect(full?.rawSpec).toBe(JSON.stringify(SPEC));
  });

  it.each([
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 0],
    [1e300, 0],
    [-1, 0],
    [1.5, 0],
    ['7', 0],
    [null, 0],
  ])('reads leaseTransitions of %p as %i', async (leaseTransitions, read) => {
    fake.on('GET', PLACE, json(leaseOf({ ...SPEC, leaseTransitions })));

    expect((await clientOf(transport).read(signal))?.spec.leaseTransitions).toBe(read);
  });

  it('detects a change of any field of the spec in the raw text, also of an unknown field', async () => {
    fake.on('GET', PLACE, json(leaseOf(SPEC)), json(leaseOf({ ...SPEC, strategy: 'x' })));
    const client = clientOf(transport);

    const [first, second] = [await client.read(signal), await client.read(signal)];

    expect(first?.spec).toEqual(second?.spec);
    expect(first?.rawSpec).not.toBe(second?.rawSpec);
  });

  it('returns null for a missing Lease, and names the operation in any other failure', async () => {
    fake.on('GET', PLACE, status(404, 'not found'), status(403, 'no'), json({ kind: 'Status' }));
    const client = clientOf(transport);

    expect(await client.read(signal)).toBeNull();
    expect((await failureOf(() => client.read(signal))).message).toBe(
      'reading Lease monitoring/promscaler: 403 Forbidden: no',
    );
    expect((await failureOf(() => client.read(signal))).kind).toBe('bad_answer');
  });

  it('rejects a Lease without uid or resourceVersion: it could not be updated safely', async () => {
    fake.on('GET', PLACE, json(leaseOf(SPEC, { uid: '' })), json(leaseOf(SPEC, { resourceVersion: '' })));
    const client = clientOf(transport);

    expect((await failureOf(() => client.read(signal))).kind).toBe('bad_answer');
    expect((await failureOf(() => client.read(signal))).kind).toBe('bad_answer');
  });

  it('updates by a PUT that keeps labels and unknown fields, with uid and resourceVersion, without managedFields', async () => {
    const metadata = { labels: { app: 'promscaler' }, managedFields: [{ manager: 'helm' }] };
    fake.on('GET', PLACE, json(leaseOf({ ...SPEC, strategy: 'x' }, metadata)));
    fake.on('PUT', PLACE, json(leaseOf(SPEC)));
    const client = clientOf(transport);
    const found = await client.read(signal);
    if (found === null) throw new Error('there is a Lease');

    await client.update(found, { ...SPEC, holderIdentity: 'b_2', acquireTime: null }, signal);

    expect(fake.seen('PUT').map(({ body }) => body)).toEqual([
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          name: 'promscaler',
          namespace: 'monitoring',
          uid: 'u-1',
          resourceVersion: '7',
          labels: { app: 'promscaler' },
        },
        spec: { ...SPEC, strategy: 'x', holderIdentity: 'b_2' },
      },
    ]);
    expect(reports.map(({ verb, resource, code }) => [verb, resource, code])).toEqual([
      ['get', 'leases', '200'],
      ['update', 'leases', '200'],
    ]);
  });

  it('sends a PUT once, whatever the answer', async () => {
    fake.on('GET', PLACE, json(leaseOf(SPEC)));
    fake.on('PUT', PLACE, status(503, 'busy', { 'retry-after': '1' }));
    const client = clientOf(transport);
    const found = await client.read(signal);
    if (found === null) throw new Error('there is a Lease');

    expect((await failureOf(() => client.update(found, SPEC, signal))).kind).toBe('server_error');
    expect(fake.seen('PUT')).toHaveLength(1);
  });

  it('times out after 5 s, and does not wait for a write that hangs', async () => {
    fake.on('GET', PLACE, () => undefined, json(leaseOf(SPEC)));
    fake.on('PATCH', '/slow', () => undefined);
    const slow = Array.from({ length: 12 }, () =>
      failureOf(() =>
        transport.request({
          lane: 'write',
          path: '/slow',
          doing: 'patching',
          verb: 'patch',
          resource: 'x',
          deadlineMs: 20_000,
        }),
      ),
    );
    const hung = failureOf(() => clientOf(transport).read(signal));
    await eventually(() => fake.seen('GET').length === 1, 'the first read');

    const second = await clientOf(transport).read(signal);
    clock.advance(4999);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);

    expect(second?.spec).toEqual(SPEC);
    expect((await hung).message).toBe('reading Lease monitoring/promscaler: timeout after 5000 ms');
    clock.advance(15_000);
    expect((await Promise.all(slow)).every(({ kind }) => kind === 'timeout')).toBe(true);
  });
});

describe('the client of a Lease, on the simulated cluster', () => {
  let simulator: Simulator;
  let transport: Transport;

  beforeEach(async () => {
    const clock = new ManualClock();
    simulator = await startSimulator({ clock, namespaces: ['monitoring'] });
    transport = createTransport({ connection: connectTo(simulator.url), clock });
  });

  afterEach(async () => {
    transport.close();
    await simulator.close();
  });

  it('creates, reads and updates it; a second create and an update of an old version are conflicts', async () => {
    const client = clientOf(transport);
    expect(await client.read(signal)).toBeNull();

    const created = await client.create(SPEC, signal);
    expect((await failureOf(() => client.create(SPEC, signal))).kind).toBe('conflict');
    const updated = await client.update(created, { ...SPEC, holderIdentity: 'b_2' }, signal);
    expect((await failureOf(() => client.update(created, SPEC, signal))).kind).toBe('conflict');

    expect(updated.spec.holderIdentity).toBe('b_2');
    expect(await client.read(signal)).toEqual(updated);
  });

  it('does not update a Lease that was deleted and recreated', async () => {
    const client = clientOf(transport);
    const created = await client.create(SPEC, signal);
    const other = {
      ...created,
      object: { ...created.object, metadata: { ...metadataOf(created.object), uid: 'u-0' } },
    };

    expect((await failureOf(() => client.update(other, SPEC, signal))).kind).toBe('conflict');
  });
});

function metadataOf(object: Readonly<Record<string, unknown>>): object {
  return object['metadata'] as object;
}
