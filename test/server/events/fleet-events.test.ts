import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createApp } from '../../../src/server/app.js';
import { createEventStreams } from '../../../src/server/event-streams.js';
import type { EventStreams } from '../../../src/server/event-streams.js';
import type { Peer } from '../../../src/server/fleet/peer-check.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { createEventFeed } from '../../../src/telemetry/event-feed.js';
import type { EventFeed, ServiceEvent } from '../../../src/telemetry/event-feed.js';
import { instantFromMs } from '../../../src/units/time.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { partsOf } from '../app-parts.js';
import { readKeys } from '../fleet/peer-keys.js';
import { failureText, startPeer, stream } from './peer-server.js';
import type { PeerServer } from './peer-server.js';

const AT = instantFromMs(Date.UTC(2026, 0, 1));

function failure(message: string, namespace = 'shop'): ServiceEvent {
  return { type: 'failure', at: AT, namespace, name: 'web', subject: 'change', failing: true, message };
}

interface Replica {
  readonly identity: string;
  readonly feed: EventFeed;
  readonly streams: EventStreams;
  readonly server: RunningServer;
  readonly peers: Peer[];
}

const replicas: Replica[] = [];
const strangers: PeerServer[] = [];

afterEach(async () => {
  for (const { streams, server } of replicas.splice(0)) {
    streams.close();
    await server.close();
  }
  await Promise.all(strangers.splice(0).map((peer) => peer.close()));
});

async function startReplica(identity: string): Promise<Replica> {
  const clock = fastClock(20);
  const feed = createEventFeed(identity, 5);
  const peers: Peer[] = [];
  const fleet = { identity, isOwn: () => true, ownerOf: () => null, peers: () => peers, keys: readKeys };
  const streams = createEventStreams({ feed, clock, fleet });
  const app = createApp(partsOf({ feed }, { api: { streams }, fleet, clock }));
  const server = await startServer({ app, port: 0, host: '127.0.0.1', clock });
  const replica = { identity, feed, streams, server, peers };
  replicas.push(replica);
  return replica;
}

async function startTwo(): Promise<readonly [Replica, Replica]> {
  const [first, second] = [await startReplica('first'), await startReplica('second')];
  first.peers.push({ identity: 'second', address: second.server.url });
  second.peers.push({ identity: 'first', address: first.server.url });
  return [first, second];
}

/** A replica whose only peer answers as `answer` does. */
async function startBeside(answer: Parameters<typeof startPeer>[0]): Promise<[Replica, PeerServer]> {
  const peer = await startPeer(answer);
  strangers.push(peer);
  const replica = await startReplica('first');
  replica.peers.push({ identity: 'second', address: peer.url });
  return [replica, peer];
}

interface Client {
  readonly text: () => string;
  /** What the events after `connected` are about, in their order. */
  readonly events: () => readonly string[];
  readonly lastId: () => string;
  readonly leave: () => void;
}

async function listenTo(
  { server }: Pick<Replica, 'server'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const sent = httpRequest(`${server.url}/api/v1/events`, { headers, agent: false });
  sent.on('error', () => undefined).end();
  const response = await new Promise<IncomingMessage>((resolve) => sent.on('response', resolve));
  let text = '';
  response.on('error', () => undefined);
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await eventually(() => text.includes('\n\n'), 'the beginning of the stream');
  return {
    text: () => text,
    events: () =>
      [...text.matchAll(/^event: (?!connected)(\w+)\ndata: (.*)$/gm)].map(([, type, data]) =>
        type === 'failure' ? (JSON.parse(data ?? '') as { message: string }).message : (type ?? ''),
      ),
    lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
    leave: () => sent.destroy(),
  };
}

describe('the events of several replicas', () => {
  it('arrive from all of them, whichever is asked, each once', async () => {
    const [first, second] = await startTwo();
    const clients = [await listenTo(first), await listenTo(second)];

    first.feed.publish(failure('of first'));
    second.feed.publish(failure('of second'));

    for (const client of clients) {
      await eventually(() => client.events().length === 2);
      expect([...client.events()].sort()).toEqual(['of first', 'of second']);
    }
  });

  it('continue at the other replica with those that were missed of both', async () => {
    const [first, second] = await startTwo();
    const before = await listenTo(first);
    first.feed.publish(failure('1'));
    second.feed.publish(failure('2'));
    await eventually(() => before.events().length === 2);
    const lastId = before.lastId();
    before.leave();

    first.feed.publish(failure('3'));
    second.feed.publish(failure('4'));
    const after = await listenTo(second, { 'Last-Event-ID': lastId });
    await eventually(() => after.events().length === 2);
    first.feed.publish(failure('5'));
    await eventually(() => after.events().length === 3);

    expect([...after.events()].sort()).toEqual(['3', '4', '5']);
  });

  it.each(['first-1', '~', 'abc.def', 'x'.repeat(5000), 'a.b~'.repeat(70)])(
    'begin with a gap after an unknown ID (%#)',
    async (lastId) => {
      const [first] = await startTwo();

      const client = await listenTo(first, { 'Last-Event-ID': lastId });

      await eventually(() => client.events().includes('gap'));
    },
  );

  it('have one reload, not one of each replica', async () => {
    const [first, second] = await startTwo();
    const client = await listenTo(first);

    for (const { feed } of [second, first]) feed.publish({ type: 'reload', at: AT, scalers: 3, errors: 0 });
    second.feed.publish(failure('last'));

    await eventually(() => client.events().includes('last'));
    expect(client.events()).toEqual(['reload', 'last']);
  });

  it('share one connection to a replica, which ends with the last client', async () => {
    const [replica, peer] = await startBeside((response) =>
      stream(response, 'id: p-0\nevent: connected\ndata: {}\n\n'),
    );
    const clients = [await listenTo(replica), await listenTo(replica), await listenTo(replica)];
    await eventually(() => peer.answers.length === 1);

    for (const client of clients) client.leave();

    await eventually(() => peer.answers.length === 0);
    expect(peer.asked.length).toBe(1);
    expect(peer.questions[0]).toMatchObject({ to: 'second', path: '/api/v1/events' });
  });

  it('have a gap after a replica has joined or left', async () => {
    const [first, second] = await startTwo();
    const [joined] = first.peers.splice(0);
    const client = await listenTo(first);

    if (joined !== undefined) first.peers.push(joined);
    await eventually(() => client.events().length === 1, 'the gap after it has joined');
    second.feed.publish(failure('of second'));
    await eventually(() => client.events().length === 2);
    second.streams.close();
    await second.server.close();
    first.peers.splice(0);
    await eventually(() => client.events().length === 3, 'the gap after it has left');

    expect(client.events()).toEqual(['gap', 'of second', 'gap']);
  });
});

describe('the events beside a replica', () => {
  it('that is dead begin all the same', async () => {
    const first = await startReplica('first');
    first.peers.push({ identity: 'second', address: 'http://127.0.0.1:1' });
    const client = await listenTo(first);

    first.feed.publish(failure('own'));

    await eventually(() => client.events().length === 1);
    expect(client.events()).toEqual(['own']);
  });

  it('that never answers begin after a second, and the replica is asked again', async () => {
    const [first, peer] = await startBeside(() => undefined);
    const client = await listenTo(first);
    first.feed.publish(failure('own'));

    await eventually(() => client.events().length === 1);
    await eventually(() => peer.asked.length > 1, 'a second attempt');
  });

  it('that breaks off continue after its last event', async () => {
    let times = 0;
    const [first, peer] = await startBeside((response) => {
      times += 1;
      const text = times === 1 ? `id: p-0\nevent: connected\ndata: {}\n\n${failureText('p-1', 'one')}` : '';
      stream(response, text === '' ? `retry: 3000\n\n${failureText('p-2', 'two')}` : text);
      if (times === 1) response.write('', () => response.destroy());
    });
    const client = await listenTo(first);

    await eventually(() => client.events().includes('two'));

    expect(peer.questions[1]?.lastId).toBe('p-1');
    expect(client.events().filter((event) => event !== 'gap')).toEqual(
      client.text().includes('one') ? ['one', 'two'] : ['two'],
    );
  });

  it('that was restarted have a gap', async () => {
    let times = 0;
    const [first] = await startBeside((response) => {
      times += 1;
      if (times === 1) {
        stream(response, 'id: p-0\nevent: connected\ndata: {}\n\n');
        response.write('', () => response.destroy());
      } else {
        stream(response, 'retry: 3000\nid: q-0\nevent: gap\ndata: {"at":"2026-01-01T00:00:00Z"}\n\n');
      }
    });
    const client = await listenTo(first);

    await eventually(() => client.events().includes('gap'));
  });

  it.each([
    ['another page', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['an error', (response) => void response.writeHead(401).end()],
    ['a redirect', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['an endless line', (response) => stream(response, 'x'.repeat(200_000))],
    ['no ID', (response) => stream(response, 'event: connected\ndata: {}\n\n')],
    [
      'an ID with other characters',
      (response) => stream(response, 'id: a b\r\nevent: connected\ndata: {}\n\n'),
    ],
  ] satisfies [string, Parameters<typeof startPeer>[0]][])(
    'that answers with %s are those of this replica',
    async (_, answer) => {
      const [first, peer] = await startBeside(answer);
      const client = await listenTo(first);
      first.feed.publish(failure('own'));

      await eventually(() => client.events().includes('own'));
      await eventually(() => peer.asked.length > 1, 'a second attempt');
      expect(client.events()).toEqual(['own']);
    },
  );

  it.each([
    ['no JSON', 'id: p-1\nevent: failure\ndata: {\n\n'],
    ['missing fields', 'id: p-1\nevent: failure\ndata: {"namespace":"shop"}\n\n'],
    ['a wrong type', 'id: p-1\nevent: decision\ndata: {"outcome":7}\n\n'],
    ['an unknown time', failureText('p-1', 'x').replace('2026-01-01T00:00:00Z', 'yesterday')],
  ])('that sends an event with %s have a gap instead', async (_, text) => {
    const [first, peer] = await startBeside((response) =>
      stream(response, 'id: p-0\nevent: connected\ndata: {}\n\n'),
    );
    const client = await listenTo(first);
    await eventually(() => peer.answers.length === 1);

    peer.answers[0]?.write(text);
    peer.answers[0]?.write(failureText('p-2', 'next'));

    await eventually(() => client.events().length === 2);
    expect([...client.events()].sort()).toEqual(['gap', 'next']);
  });

  it('that sends lines of its own cannot add a field or an event to the stream', async () => {
    const [first, peer] = await startBeside((response) =>
      stream(response, 'id: p-0\nevent: connected\ndata: {}\n\n'),
    );
    const client = await listenTo(first);
    await eventually(() => peer.answers.length === 1);

    peer.answers[0]?.write('id: p-1\nevent: admin\ndata: {}\nretry: 1\n\n');
    peer.answers[0]?.write(failureText('p-2', 'a\n\nevent: gap\ndata: {}\n\n'));

    await eventually(() => client.events().length >= 1 && client.text().includes('a\\n'));
    expect(client.text()).not.toMatch(/^(event: admin|retry: 1)$/m);
    expect(client.events().filter((event) => event !== 'gap')).toEqual(['a\n\nevent: gap\ndata: {}\n\n']);
  });
});
