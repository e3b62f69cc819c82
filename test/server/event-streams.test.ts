import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createApp } from '../../src/server/app.js';
import { createEventStreams } from '../../src/server/event-streams.js';
import type { EventStreams } from '../../src/server/event-streams.js';
import { startServer } from '../../src/server/server.js';
import type { RunningServer } from '../../src/server/server.js';
import { createEventFeed } from '../../src/telemetry/event-feed.js';
import type { EventFeed, ServiceEvent } from '../../src/telemetry/event-feed.js';
import { instantFromMs } from '../../src/units/time.js';
import { ManualClock, eventually, settle } from '../support/manual-clock.js';
import { partsOf, promptly } from './app-parts.js';

const RELOAD: ServiceEvent = {
  type: 'reload',
  at: instantFromMs(Date.UTC(2026, 0, 1)),
  scalers: 3,
  errors: 0,
};
const RELOAD_DATA = '{"at":"2026-01-01T00:00:00Z","scalers":3,"errors":0}';

function failureOf(message: string): ServiceEvent {
  const web = { namespace: 'shop', name: 'web' };
  return { type: 'failure', at: RELOAD.at, ...web, subject: 'change', failing: true, message };
}

interface Fixture {
  readonly feed: EventFeed;
  readonly streams: EventStreams;
  readonly clock: ManualClock;
  readonly server: RunningServer;
}

const open: Fixture[] = [];

afterEach(async () => {
  for (const { streams, server } of open.splice(0)) {
    streams.close();
    await server.close();
  }
});

async function start(limits: { readonly most?: number; readonly maxAgeMs?: number } = {}): Promise<Fixture> {
  const clock = new ManualClock();
  const feed = createEventFeed('run', 3);
  const streams = createEventStreams({ feed, clock: promptly(clock), ...limits });
  const app = createApp(partsOf({ feed }, { api: { streams } }));
  const { now, monotonicMs, random } = clock;
  // The grace period at the server's end must not wait for a clock that does not advance.
  const after = (_ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, 20);
    return () => clearTimeout(timer);
  };
  const immediately = { now, monotonicMs, random, after };
  const server = await startServer({ app, port: 0, host: '127.0.0.1', clock: immediately });
  const fixture = { feed, streams, clock, server };
  open.push(fixture);
  return fixture;
}

interface Client {
  readonly response: IncomingMessage;
  readonly text: () => string;
  readonly hasEnded: () => boolean;
  readonly leave: () => void;
}

async function listen(
  { server }: Fixture,
  headers: Record<string, string> = {},
  reads = true,
): Promise<Client> {
  const request = httpRequest(`${server.url}/api/v1/events`, { headers, agent: false });
  request.on('error', () => undefined).end();
  const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
  let text = '';
  let ended = false;
  response.on('error', () => undefined).on('close', () => (ended = true));
  if (reads) response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { response, text: () => text, hasEnded: () => ended, leave: () => request.destroy() };
}

describe('/api/v1/events', () => {
  it('sends an event with id, type and data, and headers that prevent buffering', async () => {
    const fixture = await start();
    const client = await listen(fixture);

    fixture.feed.publish(RELOAD);

    await eventually(() => client.text().includes(`id: run-1\nevent: reload\ndata: ${RELOAD_DATA}\n\n`));
    expect(client.text()).toContain('retry: 3000\n');
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  });

  it('sends a comment every 15 s with one timer for 2 clients, and none without a client', async () => {
    const fixture = await start();
    const clients = [await listen(fixture), await listen(fixture)];
    await eventually(() => fixture.streams.size() === 2);
    expect(fixture.clock.pending).toBe(1);

    fixture.clock.advance(14_999);
    expect(clients.map((client) => client.text().includes('heartbeat'))).toEqual([false, false]);
    fixture.clock.advance(1);

    await eventually(() => clients.every((client) => client.text().includes(': heartbeat\n\n')));
    for (const client of clients) client.leave();
    await eventually(() => fixture.streams.size() === 0);
    expect(fixture.clock.pending).toBe(0);
  });

  it('continues after the Last-Event-ID', async () => {
    const fixture = await start();
    for (let index = 0; index < 3; index += 1) fixture.feed.publish(RELOAD);

    const client = await listen(fixture, { 'Last-Event-ID': 'run-1' });

    await eventually(() => client.text().includes('id: run-3'));
    expect(client.text().match(/^id: .*$/gm)).toEqual(['id: run-2', 'id: run-3']);
  });

  it.each(['other-1', 'run-1', 'x'])('reports a gap after %s, which is no longer known', async (id) => {
    const fixture = await start();
    for (let index = 0; index < 5; index += 1) fixture.feed.publish(RELOAD);

    const client = await listen(fixture, { 'Last-Event-ID': id });

    await eventually(() => client.text().includes('\n\n'));
    expect(client.text()).toBe('retry: 3000\nid: run-5\nevent: gap\ndata: {"at":"2026-01-01T00:00:00Z"}\n\n');
  });

  it.each([
    ['reports a gap', 'more', 16_500, ['gap']],
    ['goes on', 'less', 16_000, ['connected', 'failure', 'failure']],
  ])('%s if the missed events are %s than 32 KiB', async (_what, _size, length, types) => {
    const fixture = await start();
    fixture.feed.publish(RELOAD);
    for (let index = 0; index < 2; index += 1) fixture.feed.publish(failureOf('x'.repeat(length)));

    const client = await listen(fixture, { 'Last-Event-ID': 'run-1' });

    await eventually(() => client.text().includes('id: run-3') && client.text().endsWith('}\n\n'));
    expect([...client.text().matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toEqual(types);
  });

  it('accepts 2 streams if 2 are allowed, and rejects a third with 503', async () => {
    const fixture = await start({ most: 2 });
    const first = await listen(fixture);
    await listen(fixture);
    await eventually(() => fixture.streams.size() === 2);

    const third = await listen(fixture);
    await eventually(() => third.text() !== '');
    first.leave();
    await eventually(() => fixture.streams.size() === 1);
    const fourth = await listen(fixture);

    expect([third.response.statusCode, third.response.headers['retry-after'], third.text()]).toEqual([
      503,
      '5',
      '{"error":"there are already 2 event streams, the maximum"}',
    ]);
    expect(fourth.response.statusCode).toBe(200);
  });

  it('drops a client that does not read, and the others continue', async () => {
    const fixture = await start();
    const reader = await listen(fixture);
    await listen(fixture, {}, false);
    await eventually(() => fixture.streams.size() === 2);
    const long = failureOf('x'.repeat(32_000));

    for (let index = 0; index < 2000 && fixture.streams.size() === 2; index += 1) {
      fixture.feed.publish(long);
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(fixture.streams.size()).toBe(1);
    fixture.feed.publish(RELOAD);
    fixture.clock.advance(100);
    await eventually(() => reader.text().includes(RELOAD_DATA));
  });

  it('sends the first event at once, and gathers the following ones for 100 ms', async () => {
    const fixture = await start();
    const client = await listen(fixture);
    await eventually(() => fixture.streams.size() === 1);
    const received = (): number => client.text().match(/^event: reload/gm)?.length ?? 0;
    fixture.feed.publish(RELOAD);
    await eventually(() => received() === 1);

    for (let index = 0; index < 7; index += 1) fixture.feed.publish(RELOAD);
    fixture.clock.advance(99);
    await settle();
    expect(received()).toBe(1);
    fixture.clock.advance(1);

    await eventually(() => received() === 8);
  });

  it('gathers at most 8 events', async () => {
    const fixture = await start();
    const client = await listen(fixture);
    await eventually(() => fixture.streams.size() === 1);
    fixture.feed.publish(RELOAD);
    await eventually(() => client.text().includes('id: run-1\n'));

    for (let index = 0; index < 8; index += 1) fixture.feed.publish(RELOAD);

    await eventually(() => client.text().includes('id: run-9\n'));
    expect(fixture.clock.pending).toBe(1);
  });

  it('sends the events of one turn at once, and each stream gets all of them', async () => {
    const fixture = await start();
    const clients = [await listen(fixture), await listen(fixture)];
    await eventually(() => fixture.streams.size() === 2);

    for (let index = 0; index < 400; index += 1) fixture.feed.publish(RELOAD);
    const late = await listen(fixture, { 'Last-Event-ID': 'run-399' });

    await eventually(() => [...clients, late].every((client) => client.text().includes('id: run-400')));
    expect(clients.map((client) => client.text().match(/^id: run-[1-9].*$/gm)?.length)).toEqual([400, 400]);
    expect(late.text().match(/^id: .*$/gm)).toEqual(['id: run-400']);
  });

  it('ends a stream at the first heartbeat after its maximum age, and continues without a gap', async () => {
    const fixture = await start({ maxAgeMs: 20_000 });
    const client = await listen(fixture);
    await eventually(() => fixture.streams.size() === 1);
    fixture.feed.publish(RELOAD);
    await eventually(() => client.text().includes('id: run-1'));

    fixture.clock.advance(15_000);
    expect(fixture.streams.size()).toBe(1);
    fixture.clock.advance(15_000);
    await eventually(() => client.hasEnded());
    fixture.feed.publish(RELOAD);
    const next = await fetch(`${fixture.server.url}/api/v1/events`, {
      headers: { 'Last-Event-ID': 'run-1' },
    });
    const body: ReadableStream<Uint8Array> | null = next.body;
    const { value } = (await body?.getReader().read()) ?? {};

    expect(new TextDecoder().decode(value)).toContain(`id: run-2\nevent: reload\ndata: ${RELOAD_DATA}`);
  });

  it('ends all streams at once, and accepts no more', async () => {
    const fixture = await start();
    const client = await listen(fixture);
    await eventually(() => fixture.streams.size() === 1);

    fixture.streams.close();
    await eventually(() => client.hasEnded());

    expect((await listen(fixture)).response.statusCode).toBe(503);
    expect(fixture.clock.pending).toBe(0);
  });

  it('answers HEAD with the headers only', async () => {
    const fixture = await start();

    const response = await fetch(`${fixture.server.url}/api/v1/events`, { method: 'HEAD' });

    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(fixture.streams.size()).toBe(0);
  });
});
