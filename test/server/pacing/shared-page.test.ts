import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import type { RequestHandler } from 'express';
import { createSharedPage } from '../../../src/server/pacing/shared-page.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { ManualClock, eventually, settle } from '../../support/manual-clock.js';

const servers: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('createSharedPage', () => {
  it('renders once for 3 clients that wait', async () => {
    const { get, arrived, renderings } = await start();

    const answers = [get(), get(), get()];
    await eventually(() => arrived() === 3);
    renderings[0]?.finish('a\n');

    expect(await Promise.all(answers)).toEqual(['200 a\n', '200 a\n', '200 a\n']);
    expect(renderings).toHaveLength(1);
  });

  it('sends all parts with the length of the whole, and only the length for HEAD', async () => {
    const { url, renderings } = await start();
    const parts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(100_000));

    const answer = fetch(url);
    await eventually(() => renderings.length === 1);
    renderings[0]?.finish(...parts);
    const whole = await answer;
    const head = await fetch(url, { method: 'HEAD' });

    const lengths = [whole, head].map(({ headers }) => headers.get('content-length'));
    expect(lengths).toEqual(['3000000', '3000000']);
    expect((await whole.text()) === parts.join('')).toBe(true);
    expect(await head.text()).toBe('');
  });

  it('keeps the page for 999 ms, and renders it again after 1,000', async () => {
    const { get, clock, renderings } = await start();
    const first = get();
    await eventually(() => renderings.length === 1);
    renderings[0]?.finish('a\n');
    await first;

    clock.advance(999);
    expect(await get()).toBe('200 a\n');
    clock.advance(1);
    const second = get();
    await eventually(() => renderings.length === 2);
    renderings[1]?.finish('b\n');

    expect(await second).toBe('200 b\n');
  });

  it('answers 503 with Retry-After to a third client if 2 may wait', async () => {
    const { get, url, arrived, renderings } = await start(2);
    const waiting = [get(), get()];
    await eventually(() => arrived() === 2);

    const third = await fetch(url);
    renderings[0]?.finish('a\n');

    expect([third.status, third.headers.get('retry-after'), await third.json()]).toEqual([
      503,
      '1',
      { error: 'too many clients wait for this page: retry later' },
    ]);
    expect(await Promise.all(waiting)).toEqual(['200 a\n', '200 a\n']);
  });

  it('stops rendering when the last client has disconnected, and starts again 1,000 ms after it started', async () => {
    const { get, arrived, clock, renderings } = await start();
    const leaving = new AbortController();
    const left = get(leaving.signal).catch(() => 'left');
    await eventually(() => renderings.length === 1);

    leaving.abort();
    await eventually(() => renderings[0]?.signal.aborted === true);
    expect(await left).toBe('left');
    const next = get();
    await eventually(() => arrived() === 2);
    clock.advance(999);
    await settle();
    expect(renderings).toHaveLength(1);
    clock.advance(1);
    await eventually(() => renderings.length === 2);
    renderings[1]?.finish('b\n');

    expect(await next).toBe('200 b\n');
  });

  it('continues rendering while one of 2 clients is connected', async () => {
    const { get, arrived, gone, renderings } = await start();
    const leaving = new AbortController();
    const left = get(leaving.signal).catch(() => 'left');
    await eventually(() => renderings.length === 1);
    const stays = get();
    await eventually(() => arrived() === 2);

    leaving.abort();
    await left;
    await eventually(() => gone() === 1, 'the server to notice');
    renderings[0]?.finish('a\n');

    expect(await stays).toBe('200 a\n');
  });

  it('answers 500 to all waiting clients if it fails, and renders for the next one', async () => {
    const { get, clock, renderings } = await start();
    const first = get();
    await eventually(() => renderings.length === 1);
    renderings[0]?.fail();

    expect(await first).toMatch(/^500 /);
    clock.advance(1000);
    const second = get();
    await eventually(() => renderings.length === 2);
    renderings[1]?.finish('a\n');
    expect(await second).toBe('200 a\n');
  });
});

interface Rendering {
  readonly signal: AbortSignal;
  readonly finish: (...parts: readonly string[]) => void;
  readonly fail: () => void;
}

async function start(mostWaiting?: number): Promise<{
  readonly url: string;
  readonly clock: ManualClock;
  readonly renderings: Rendering[];
  readonly get: (signal?: AbortSignal) => Promise<string>;
  /** Requests that reached the page. */
  readonly arrived: () => number;
  /** Requests that have been answered, or whose client has disconnected. */
  readonly gone: () => number;
}> {
  const clock = new ManualClock();
  const renderings: Rendering[] = [];
  const render = (signal: AbortSignal): Promise<readonly Buffer[]> =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      renderings.push({
        signal,
        finish: (...parts) => resolve(parts.map((part) => Buffer.from(part))),
        fail: () => reject(new Error('broken')),
      });
    });
  const page = createSharedPage({
    contentType: 'text/plain',
    render,
    clock,
    queue: (_response, send) => send(),
    ...(mostWaiting === undefined ? {} : { mostWaiting }),
  });
  let [arrived, gone] = [0, 0];
  const count: RequestHandler = (_request, response, next) => {
    arrived += 1;
    response.on('close', () => (gone += 1));
    next();
  };
  const app = express().set('env', 'test').get('/', count, page);
  const after = (_ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, 20);
    return () => clearTimeout(timer);
  };
  const { now, monotonicMs, random } = clock;
  const server = await startServer({
    app,
    port: 0,
    host: '127.0.0.1',
    clock: { now, monotonicMs, random, after },
  });
  servers.push(server);
  const get = async (signal?: AbortSignal): Promise<string> => {
    const response = await fetch(server.url, { headers: { Connection: 'close' }, signal: signal ?? null });
    return `${response.status} ${await response.text()}`;
  };
  return { url: server.url, clock, renderings, get, arrived: () => arrived, gone: () => gone };
}
