import { request as httpRequest } from 'node:http';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { createTokenAccess } from '../../../src/server/access/access-control.js';
import type { AccessControl } from '../../../src/server/access/access-control.js';
import { createApp } from '../../../src/server/app.js';
import { createEventStreams } from '../../../src/server/event-streams.js';
import { requestPeer } from '../../../src/server/fleet/ask-peer.js';
import { type Peer, PEER_HEADER } from '../../../src/server/fleet/peer-check.js';
import { encryptRequest } from '../../../src/server/fleet/sealed.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { createRecords } from '../../../src/telemetry/records.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { record, scaler } from '../../telemetry/record-builder.js';
import { partsOf } from '../app-parts.js';
import { startPeer } from '../events/peer-server.js';
import type { PeerServer } from '../events/peer-server.js';
import { PEER_KEYS, readKeys } from './peer-keys.js';

const TOKEN = 'the-token-of-a-client';
const OTHER_KEYS = [Buffer.from('a-key-that-no-replica-of-the-release-has')];
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Sees the namespace shop only. */
const SHOP: AccessControl = {
  check: () => Promise.resolve(ADMITTED),
  checkIdentity: () => Promise.resolve(ADMITTED),
};
const ADMITTED = {
  kind: 'admitted',
  viewer: { sees: (namespace: string) => namespace === 'shop', seesAll: false, scope: 'shop' },
  identity: { kind: 'user', user: { username: 'ann' } },
} as const;

interface Replica {
  readonly server: RunningServer;
  readonly get: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
}

/** A replica `first` with the scaler shop/own, next to a peer at an address. */
async function startBeside(address: string | null, access: AccessControl | null): Promise<Replica> {
  const records = createRecords(SYSTEM_CLOCK);
  records.ledger.add(record({ scaler: scaler('own') }));
  const peers: Peer[] = address === null ? [] : [{ identity: 'second', address }];
  const isOwn = (key: string): boolean => key === 'shop/own';
  const fleet = {
    identity: 'first',
    isOwn,
    ownerOf: () => peers[0] ?? null,
    peers: () => peers,
    keys: readKeys,
  };
  const streams = createEventStreams({ feed: records.feed, clock: fastClock(20), fleet });
  const app = createApp(partsOf(records, { access, fleet, clock: SYSTEM_CLOCK, api: { streams } }));
  const server = await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
  closing.push(() => {
    streams.close();
    return server.close();
  });
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-promscaler-authorization': `Bearer ${TOKEN}` };
  const get: Replica['get'] = async (path) => {
    const response = await fetch(`${server.url}${path}`, { headers: { ...headers, connection: 'close' } });
    return { status: response.status, text: await response.text() };
  };
  return { server, get };
}

async function peerThat(
  answer: (response: ServerResponse) => void,
  keys: readonly Buffer[] = PEER_KEYS,
): Promise<PeerServer> {
  const peer = await startPeer(answer, { keys });
  closing.push(peer.close);
  return peer;
}

const ROW = { namespace: 'shop', name: 'forged', outcome: 'changed' };
const HIDDEN = { ...ROW, namespace: 'secret' };
const list = (...items: readonly object[]): string =>
  JSON.stringify({ version: '0.1.0', items, continue: null });
const lines = (...rows: readonly object[]): string =>
  ['{"revision":"r","isComplete":true,"removed":[]}', ...rows.map((row) => JSON.stringify(row))].join('\n');

const PAGES = [
  '/api/v1/scalers',
  '/api/v1/overview',
  '/api/v1/service',
  ...['', '/decisions', '/snapshot', '/history', '/events'].map((page) => `/api/v1/scalers/shop/web${page}`),
];

describe.each([
  ['no key', []],
  ['another key', OTHER_KEYS],
])('an address in a forged Lease, of a server with %s', (_, keys) => {
  it('gets no token and nothing that it can read, and adds no row', async () => {
    const peer = await peerThat((response) => response.end(list(ROW)), keys);
    const { server, get } = await startBeside(peer.url, SHOP);

    const answers = await Promise.all(PAGES.map(get));
    const events = httpRequest(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    events.on('error', () => undefined).end();
    await eventually(() => peer.asked.length > PAGES.length, 'the events');
    events.destroy();

    expect(peer.questions).toEqual([]);
    // The sealed question is random, and short words occur in it by chance.
    expect(JSON.stringify(peer.asked)).not.toMatch(/token|"ann|authorization/i);
    expect(answers.map(({ text }) => text.includes('forged'))).toEqual(PAGES.map(() => false));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 503, 503, 503, 503, 503]);
    expect(answers[0]?.text).toContain('"unreachable":["second"]');
  });
});

describe('a replica', () => {
  it('asks another one with the identity of the client, and never with its token', async () => {
    const peer = await peerThat((response) => response.end(list(ROW)));
    const { get } = await startBeside(peer.url, SHOP);

    expect((await get('/api/v1/scalers')).text).toContain('"forged"');

    const [question] = peer.questions;
    expect(question).toMatchObject({ to: 'second', path: '/api/v1/scalers', identity: ADMITTED.identity });
    expect(JSON.stringify([peer.asked, peer.questions])).not.toContain(TOKEN);
  });

  it('shows no row of another one that the client may not see', async () => {
    const peer = await peerThat((response) => response.end(list(ROW, HIDDEN)));
    const rows = await peerThat((response) => response.end(lines(ROW, HIDDEN)));

    const { text } = await (await startBeside(peer.url, SHOP)).get('/api/v1/scalers');
    const overview = await (await startBeside(rows.url, SHOP)).get('/api/v1/overview');
    const page = await (await startBeside(peer.url, SHOP)).get('/api/v1/scalers/secret/web');

    expect([text.includes('forged'), text.includes('secret')]).toEqual([true, false]);
    expect([overview.text.includes('forged'), overview.text.includes('secret')]).toEqual([true, false]);
    expect(page.status).toBe(404);
    expect(peer.asked).toHaveLength(1);
  });

  it.each([
    ['a redirect', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
    ['half an answer', (response) => void response.write('{}', () => response.destroy())],
  ] satisfies [string, (response: ServerResponse) => void][])('takes %s for no answer', async (_, answer) => {
    const peer = await peerThat(answer);
    const { get } = await startBeside(peer.url, null);

    expect((await get('/api/v1/scalers')).text).toContain('"unreachable":["second"]');
  });
});

/** Asks `first` as `second` would. */
async function ask(
  replica: Replica,
  { to = 'first', lateMs = 0, path = '/api/v1/scalers', key = PEER_KEYS[0] ?? Buffer.alloc(0) } = {},
): Promise<{ readonly header: string; readonly status: number; readonly text: string }> {
  const question = {
    to,
    atMs: Date.now() - lateMs,
    path,
    lastId: null,
    identity: { kind: 'anybody' } as const,
  };
  const { header } = encryptRequest(question, key);
  return { header, ...(await send(replica, header)) };
}

async function send({ server }: Replica, header: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}/api/v1/scalers`, { headers: { [PEER_HEADER]: header } });
  return { status: response.status, text: await response.text() };
}

describe('the question of another replica', () => {
  it.each([
    ['55 s old', { lateMs: 55_000 }, 200],
    ['from a clock that is 55 s ahead', { lateMs: -55_000 }, 200],
    ['65 s old', { lateMs: 65_000 }, 403],
    ['from a clock that is 65 s ahead', { lateMs: -65_000 }, 403],
    ['for another replica', { to: 'second' }, 403],
    ['for another page', { path: '/api/v1/scalers?limit=1' }, 403],
    ['sealed with another key', { key: OTHER_KEYS[0] }, 403],
  ])('is answered with a status, if it is %s', async (_, question, status) => {
    const replica = await startBeside(null, null);

    expect((await ask(replica, question)).status).toBe(status);
  });

  it('is answered once, and only its sender can read the answer', async () => {
    const replica = await startBeside(null, null);

    const { header, status, text } = await ask(replica);
    const again = await send(replica, header);

    expect([status, text.includes('own')]).toEqual([200, false]);
    expect(again).toEqual({ status: 403, text: '{"error":"the request was already answered"}' });
  });

  it.each(['', 'x', 'A'.repeat(200), '{}'])('is rejected as it is not sealed: %j', async (header) => {
    expect((await send(await startBeside(null, null), header)).status).toBe(403);
  });

  it('gives no more than the access control of the replica that is asked', async () => {
    const access = createTokenAccess(() => Promise.resolve('right'));
    const { server } = await startBeside(null, access);
    const asked = async (kind: 'anybody' | 'token holder'): Promise<number> => {
      const head = await requestPeer(
        { identity: 'first', address: server.url },
        {
          path: '/api/v1/scalers',
          identity: { kind },
          key: PEER_KEYS[0] ?? null,
          lastId: null,
          clock: SYSTEM_CLOCK,
          signal: new AbortController().signal,
          mostFrameBytes: 1e6,
          onBytes: () => undefined,
        },
      );
      return head.status;
    };

    expect([await asked('anybody'), await asked('token holder')]).toEqual([401, 200]);
  });
});
