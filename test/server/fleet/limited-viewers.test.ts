import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { AccessControl } from '../../../src/server/access/access-control.js';
import { createReviewAccess } from '../../../src/server/access/review-access.js';
import { createApp } from '../../../src/server/app.js';
import { createEventStreams } from '../../../src/server/event-streams.js';
import type { EventStreams } from '../../../src/server/event-streams.js';
import type { Peer } from '../../../src/server/fleet/peer-check.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { createRecords } from '../../../src/telemetry/records.js';
import type { Records } from '../../../src/telemetry/records.js';
import { at } from '../../support/builders.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { record, scalerIn } from '../../telemetry/record-builder.js';
import { partsOf } from '../app-parts.js';
import { readKeys } from './peer-keys.js';

interface Replica {
  readonly records: Records;
  readonly streams: EventStreams;
  readonly server: RunningServer;
  readonly peers: Peer[];
}

const replicas: Replica[] = [];
const sent: ClientRequest[] = [];

afterEach(async () => {
  for (const request of sent.splice(0)) request.destroy();
  for (const { streams, server } of replicas.splice(0)) {
    streams.close();
    await server.close();
  }
});

interface ReplicaOptions {
  readonly identity: string;
  /** Each with one scaler `web`. */
  readonly namespaces: readonly string[];
  readonly access: AccessControl;
}

async function startReplica({ identity, namespaces, access }: ReplicaOptions): Promise<Replica> {
  const clock = fastClock(20);
  const records = createRecords(SYSTEM_CLOCK);
  for (const namespace of namespaces) records.ledger.add(record({ scaler: scalerIn(namespace) }));
  const peers: Peer[] = [];
  const fleet = {
    identity,
    isOwn: () => namespaces.length > 0,
    ownerOf: () => peers[0] ?? null,
    peers: () => peers,
    keys: readKeys,
  };
  const streams = createEventStreams({ feed: records.feed, clock, fleet });
  const parts = partsOf(records, { access, fleet, clock: SYSTEM_CLOCK, api: { streams } });
  const app = createApp({ ...parts, service: { ...parts.service, identity } });
  const server = await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
  const replica = { records, streams, server, peers };
  replicas.push(replica);
  return replica;
}

/** A leader that decides all scalers and a standby, each with its own reviews. */
async function startLeaderAndStandby(namespaces: readonly string[], access: () => AccessControl) {
  const leader = await startReplica({ identity: 'leader', namespaces, access: access() });
  const standby = await startReplica({ identity: 'standby', namespaces: [], access: access() });
  leader.peers.push({ identity: 'standby', address: standby.server.url });
  standby.peers.push({ identity: 'leader', address: leader.server.url });
  return { leader, standby };
}

/** The API server: users by token and the namespaces that they may read; null: all. */
const USERS = new Map<string, readonly string[] | null>([
  ['admin', null],
  ['shop', ['shop']],
  ['nobody', []],
]);

function reviewed(): AccessControl {
  return createReviewAccess<string>({
    clock: SYSTEM_CLOCK,
    // The documents, which each replica has.
    namespaces: () => ['shop', 'secret'],
    onError: () => undefined,
    reviews: {
      userOf: (token) => Promise.resolve(USERS.has(token) ? token : null),
      mayRead: (user, namespace) => {
        const allowed = USERS.get(user) ?? null;
        return Promise.resolve(allowed === null || (namespace !== null && allowed.includes(namespace)));
      },
      readUser: (json) => (typeof json === 'string' ? json : null),
    },
  });
}

async function get({ server }: Replica, path: string, token: string) {
  const headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
  const response = await fetch(`${server.url}/api/v1/${path}`, { headers });
  const body = (await response.json()) as {
    items?: { namespace: string }[];
    rows?: { namespace: string }[];
    replicas?: { identity: string; scalers: number | null }[];
    error?: string;
  };
  return { status: response.status, body };
}

interface Client {
  readonly status: number;
  readonly text: () => string;
  readonly leave: () => void;
}

async function listen({ server }: Replica, token: string): Promise<Client> {
  const headers = { Authorization: `Bearer ${token}` };
  const request = httpRequest(`${server.url}/api/v1/events`, { headers, agent: false });
  sent.push(request);
  request.on('error', () => undefined).end();
  const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
  let text = '';
  response.on('error', () => undefined);
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { status: response.statusCode ?? 0, text: () => text, leave: () => request.destroy() };
}

function publish({ records }: Replica, namespace: string): void {
  const failure = { type: 'failure', at: at(0), name: 'web', subject: 'change', failing: true } as const;
  records.feed.publish({ ...failure, namespace, message: `in ${namespace}` });
}

describe.each([
  ['admin', ['secret', 'shop'], 200, 200],
  ['shop', ['shop'], 200, 404],
  ['nobody', [], 404, 404],
] as const)('a viewer with the token %s, who asks a standby', (token, seen, shop, secret) => {
  it('sees what the leader shows: scalers, rows and counts of the same namespaces', async () => {
    const { leader, standby } = await startLeaderAndStandby(['shop', 'secret'], reviewed);

    for (const replica of [leader, standby]) {
      const list = await get(replica, 'scalers', token);
      const overview = await get(replica, 'overview', token);
      const service = await get(replica, 'service', token);

      expect(list.body.items?.map(({ namespace }) => namespace)).toEqual(seen);
      expect(overview.body.rows?.map(({ namespace }) => namespace)).toEqual(seen);
      const counts = service.body.replicas?.map(({ identity, scalers }) => [identity, scalers]);
      expect(Object.fromEntries(counts ?? [])).toMatchObject({ leader: seen.length });
    }
  });

  it('gets the page of a scaler, or the answer of a scaler that does not exist', async () => {
    const { leader, standby } = await startLeaderAndStandby(['shop', 'secret'], reviewed);

    for (const replica of [leader, standby]) {
      const pages = ['', '/decisions', '/snapshot', '/history', '/events'];
      const inShop = await Promise.all(pages.map((page) => get(replica, `scalers/shop/web${page}`, token)));
      const inSecret = await Promise.all(
        pages.map((page) => get(replica, `scalers/secret/web${page}`, token)),
      );
      const allowed = shop === 200 ? [200, 404] : [404];
      for (const { status } of inShop) expect(allowed).toContain(status);
      expect(inShop[0]?.status).toBe(shop);
      expect(inSecret[0]?.status).toBe(secret);
      if (secret === 404) expect(new Set(inSecret.map(({ status }) => status))).toEqual(new Set([404]));
    }
  });
});

describe('the events of the leader', () => {
  it('reach the viewers of a standby by their namespaces, and a reload has counts only for all', async () => {
    const { leader, standby } = await startLeaderAndStandby(['shop', 'secret'], reviewed);
    const [admin, shop] = [await listen(standby, 'admin'), await listen(standby, 'shop')];
    await eventually(() => [admin, shop].every(({ text }) => text().includes('event: connected')));

    for (const namespace of ['secret', 'shop']) publish(leader, namespace);
    standby.records.feed.publish({ type: 'reload', at: at(0), scalers: 2, errors: 1 });

    await eventually(() => [admin, shop].every(({ text }) => text().includes('in shop')));
    await eventually(() => [admin, shop].every(({ text }) => text().includes('event: reload')));
    const shown = [admin, shop].map(({ text }) => [
      text().match(/"message":"[^"]+"/g),
      /event: reload\ndata: (.*)/.exec(text())?.[1],
    ]);
    expect(shown).toEqual([
      [
        ['"message":"in secret"', '"message":"in shop"'],
        '{"at":"2026-01-01T00:00:00Z","scalers":2,"errors":1}',
      ],
      [['"message":"in shop"'], '{"at":"2026-01-01T00:00:00Z","scalers":null,"errors":null}'],
    ]);
  });
});

/** Each token sees the namespace of its name. */
const BY_NAMESPACE: AccessControl = {
  check: (token) =>
    Promise.resolve({
      kind: 'admitted',
      viewer: { sees: (namespace) => namespace === token, seesAll: false, scope: token },
      identity: { kind: 'user', user: token },
    }),
  checkIdentity: () => Promise.resolve({ kind: 'refused' }),
};

describe('the streams of viewers with different permissions', () => {
  const open = async (replica: Replica, count: number): Promise<readonly Client[]> => {
    const clients: Client[] = [];
    for (let index = 0; index < count; index += 1) clients.push(await listen(replica, `team-${index}`));
    return clients;
  };

  it('are relayed for 32 sets of permissions; another set waits until one is free', async () => {
    const { standby } = await startLeaderAndStandby(['shop'], () => BY_NAMESPACE);
    const clients = await open(standby, 32);
    expect(new Set(clients.map(({ status }) => status))).toEqual(new Set([200]));

    const another = await listen(standby, 'team-32');
    await eventually(() => another.text() !== '');
    const equal = await listen(standby, 'team-31');
    clients[0]?.leave();
    await eventually(() => standby.streams.size() === 32);

    expect([another.status, another.text()]).toEqual([
      503,
      '{"error":"too many clients with different permissions have event streams: retry later"}',
    ]);
    expect([equal.status, (await listen(standby, 'team-32')).status]).toEqual([200, 200]);
  });

  it('are not limited by their permissions without another replica', async () => {
    const alone = await startReplica({ identity: 'alone', namespaces: ['shop'], access: BY_NAMESPACE });

    expect((await open(alone, 33)).map(({ status }) => status)).toEqual(
      Array.from({ length: 33 }, () => 200),
    );
  });
});
