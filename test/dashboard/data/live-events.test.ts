import { describe, expect, it } from '@jest/globals';
import type { LiveEvent } from '../../../src/api/answers.js';
import { createLiveEvents } from '../../../src/dashboard/data/live-events.js';
import { createSession } from '../../../src/dashboard/data/session.js';
import { ManualClock } from '../../support/manual-clock.js';

interface Stream {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly answer: (status?: number) => void;
  readonly push: (text: string) => void;
  readonly end: () => void;
}

function createFixture() {
  const clock = new ManualClock();
  const streams: Stream[] = [];
  const session = createSession({ read: () => null, write: () => undefined });
  const send = (_path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) =>
    new Promise<Response>((resolve, reject) => {
      const pipe = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 100 });
      const writer = pipe.writable.getWriter();
      writer.closed.catch(() => undefined);
      const fail = (): void => {
        const reason: unknown = signal.reason;
        const error = reason instanceof Error ? reason : new Error('aborted');
        reject(error);
        writer.abort(error).catch(() => undefined);
      };
      signal.addEventListener('abort', fail);
      streams.push({
        headers,
        signal,
        answer: (status = 200) => resolve(new Response(status === 200 ? pipe.readable : '', { status })),
        push: (text) => void writer.write(new TextEncoder().encode(text)).catch(() => undefined),
        end: () => void writer.close().catch(() => undefined),
      });
    });
  const live = createLiveEvents({ send, clock, session });
  const events: LiveEvent[] = [];
  return {
    clock,
    streams,
    session,
    live,
    events,
    start: () => live.subscribe((event) => events.push(event)),
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const DECISION = 'id: a-2\nevent: decision\ndata: {"at":"2026-01-01T00:00:00Z","name":"web"}\n\n';

describe('createLiveEvents', () => {
  it('opens no stream without a subscriber, and one for two of them', async () => {
    const { live, streams, start } = createFixture();
    expect(streams).toHaveLength(0);

    start();
    live.subscribe(() => undefined);
    await settle();

    expect(streams).toHaveLength(1);
    expect(live.state.get()).toEqual({ kind: 'connecting' });
  });

  it('is open with the first bytes, and passes on events', async () => {
    const { live, streams, events, start } = createFixture();
    start();
    streams[0]?.answer();
    streams[0]?.push('id: a-1\nevent: connected\ndata: {}\n\n');
    await settle();
    expect(live.state.get()).toEqual({ kind: 'open' });

    streams[0]?.push(DECISION);
    streams[0]?.push('event: other\ndata: {"at":1}\n\nevent: decision\ndata: no JSON\n\n');
    await settle();

    expect(events).toEqual([{ type: 'decision', at: '2026-01-01T00:00:00Z', name: 'web' }]);
  });

  it('reconnects with the last id after the end of a stream, within 1 s', async () => {
    const { clock, live, streams, start } = createFixture();
    start();
    streams[0]?.answer();
    streams[0]?.push(DECISION);
    await settle();
    streams[0]?.end();
    await settle();
    expect(live.state.get()).toMatchObject({ kind: 'broken', message: 'the event stream has ended' });
    expect(streams).toHaveLength(1);

    clock.advance(1000);
    await settle();

    expect(streams[1]?.headers).toMatchObject({ 'Last-Event-ID': 'a-2' });
  });

  it('waits longer after each failure, at most 30 s, and at once on demand', async () => {
    const { clock, live, streams, start } = createFixture();
    start();
    for (let failure = 0; failure < 10; failure += 1) {
      streams.at(-1)?.answer(503);
      await settle();
      const state = live.state.get();
      expect(state.kind === 'broken' && state.retryAt - clock.now()).toBeLessThanOrEqual(30_000);
      clock.advance(30_000);
      await settle();
      expect(streams).toHaveLength(failure + 2);
    }
    streams.at(-1)?.answer(503);
    await settle();

    live.retryNow();
    await settle();

    expect(streams).toHaveLength(12);
  });

  it('gives up a stream that is silent for 40 s, not one that is silent for 39 s', async () => {
    const { clock, live, streams, start } = createFixture();
    start();
    streams[0]?.answer();
    streams[0]?.push('event: connected\ndata: {}\n\n');
    await settle();

    clock.advance(39_000);
    await settle();
    expect(live.state.get().kind).toBe('open');
    clock.advance(1000);
    await settle();

    expect(live.state.get()).toMatchObject({
      kind: 'broken',
      message: 'the event stream has sent nothing for 40 s',
    });
  });

  it('demands a token after 401, and reconnects when it is entered', async () => {
    const { live, session, streams, start } = createFixture();
    start();
    streams[0]?.answer(401);
    await settle();
    expect(session.state.get().demand).not.toBeNull();

    session.enter('secret');
    await settle();

    expect(streams).toHaveLength(2);
    expect(live.state.get().kind).toBe('broken');
  });
});
