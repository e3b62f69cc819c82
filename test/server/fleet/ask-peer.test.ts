import type { Request, Response } from 'express';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createRelay, type Relay } from '../../../src/server/events/relay.js';
import { ANYBODY } from '../../../src/server/access/viewer.js';
import type { Identity } from '../../../src/server/access/viewer.js';
import { createPeerClient } from '../../../src/server/fleet/ask-peer.js';
import { createPeerCheck, type Fleet, type Peer, PEER_HEADER } from '../../../src/server/fleet/peer-check.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { failureText, startPeer, stream } from '../events/peer-server.js';
import type { PeerServer } from '../events/peer-server.js';
import { readKeys } from './peer-keys.js';

const OTHER_KEY = Buffer.from('another-key-of-at-least-32-characters');
const UNUSED = 'http://127.0.0.1:9';

const servers: PeerServer[] = [];
const relays: Relay[] = [];

afterEach(async () => {
  for (const relay of relays.splice(0)) relay.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function peerThat(...given: Parameters<typeof startPeer>): Promise<Peer> {
  const server = await startPeer(...given);
  servers.push(server);
  return { identity: 'second', address: server.url };
}

/** Asks a peer, and returns the answer with the internal errors. */
async function ask(peer: Peer, keys: Fleet['keys'] = readKeys, identity: Identity = ANYBODY) {
  const faults: unknown[] = [];
  const client = createPeerClient({ keys }, { clock: fastClock(20), onFault: (error) => faults.push(error) });
  const answer = await client(peer, '/api/v1/scalers', identity);
  return { answer, faults };
}

describe('a question to another replica', () => {
  it.each<[string, Parameters<typeof startPeer>]>([
    ['breaks the connection', [(response) => response.destroy()]],
    ['cuts the answer off', [(response) => void response.write('x', () => response.destroy())]],
    ['never answers', [() => undefined]],
    ['has another key', [(response) => response.end('ok'), { keys: [OTHER_KEY] }]],
    ['sends 17 MiB', [(response) => void response.end(Buffer.alloc(17 * 1024 * 1024))]],
  ])('has no answer, and is no internal error, if the replica %s', async (_, given) => {
    expect(await ask(await peerThat(...given))).toEqual({ answer: null, faults: [] });
  });

  it('has no answer, and is no internal error, without an address, a server, a key or a short identity', async () => {
    const nobody = { identity: 'second', address: UNUSED };
    // Random names, which are not compressed to less than a header.
    const names = Array.from({ length: 4000 }, (_, index) => `group-${(index * 7919) ** 2 % 1e9}`);
    const outcomes = [
      await ask({ identity: 'second', address: null }),
      await ask(nobody),
      await ask(nobody, () => Promise.resolve([])),
      await ask(nobody, readKeys, { kind: 'user', user: { username: 'jo', groups: names } }),
    ];

    expect(outcomes).toEqual(outcomes.map(() => ({ answer: null, faults: [] })));
  });

  it('has no answer after an internal error, which is reported', async () => {
    const error = new TypeError('keys is undefined');

    const outcome = await ask({ identity: 'second', address: UNUSED }, () => Promise.reject(error));

    expect(outcome).toEqual({ answer: null, faults: [error] });
  });
});

describe('a question of another replica', () => {
  it('is passed to the error handler after an internal error', async () => {
    const error = new TypeError('keys is undefined');
    const check = createPeerCheck({
      fleet: { identity: 'first', keys: () => Promise.reject(error) },
      access: null,
      clock: fastClock(20),
      orElse: () => undefined,
    });
    const request = { headers: { [PEER_HEADER]: 'x' } } as unknown as Request;

    const passed = await new Promise((resolve) => void check(request, {} as unknown as Response, resolve));

    expect(passed).toBe(error);
  });
});

describe('the events of another replica', () => {
  /** Collects events and internal errors until `onEvent` throws. */
  const follow = (peer: Peer, onEvent: () => void): readonly unknown[] => {
    const faults: unknown[] = [];
    relays.push(
      createRelay({
        peer,
        startId: null,
        clock: fastClock(20),
        keys: readKeys,
        identity: () => ANYBODY,
        onEvent,
        onConnected: () => undefined,
        onGap: () => undefined,
        onFault: (error) => faults.push(error),
      }),
    );
    return faults;
  };

  it('report an internal error while one is delivered, and go on', async () => {
    const error = new TypeError('listener is undefined');
    let events = 0;
    const peer = await peerThat((response) => {
      stream(response, `id: 5-1\nevent: ready\ndata: {}\n\n${failureText('5-2', 'first')}`);
    });

    const faults = follow(peer, () => {
      events += 1;
      if (events === 1) throw error;
    });

    await eventually(() => events >= 2, 'the second connection');
    expect(faults).toEqual([error]);
  });

  it.each<[string, Parameters<typeof startPeer>]>([
    ['breaks the connection', [(response) => response.destroy()]],
    ['sends no event stream', [(response) => response.end('ok')]],
    ['sends a first message without an ID', [(response) => stream(response, 'event: ready\n\n')]],
    ['sends a message of 40 KiB', [(response) => stream(response, 'x'.repeat(40 * 1024))]],
    ['has another key', [(response) => stream(response, 'id: 5-1\n\n'), { keys: [OTHER_KEY] }]],
  ])('report no internal error if the replica %s', async (_, given) => {
    const peer = await peerThat(...given);

    const faults = follow(peer, () => undefined);

    await eventually(() => (servers[0]?.asked.length ?? 0) >= 3, 'the third connection');
    expect(faults).toEqual([]);
  });
});
