import { describe, expect, it } from '@jest/globals';
import { createApi } from '../../../src/dashboard/data/api.js';
import { readBody } from '../../../src/dashboard/data/read-body.js';
import { overviewRequest, scalerRequest, serviceRequest } from '../../../src/dashboard/data/requests.js';
import { createSession } from '../../../src/dashboard/data/session.js';
import { ManualClock } from '../../support/manual-clock.js';

const REQUEST = overviewRequest(null);

function createFixture(respond: (url: URL, init: RequestInit) => Promise<Response> | Response) {
  const clock = new ManualClock();
  let stored: string | null = null;
  const session = createSession({ read: () => stored, write: (token) => (stored = token) });
  const api = createApi({
    base: 'https://example.com/proxy/promscaler/#/health',
    clock,
    session,
    fetch: async (input, init) => respond(new URL(input instanceof Request ? input.url : input), init ?? {}),
  });
  return { api, clock, session };
}

describe('createApi', () => {
  it('reads below the address of the page, and sends the token of the session', async () => {
    const seen: unknown[] = [];
    const { api, session } = createFixture((url, { headers }) => {
      seen.push([url.href, headers]);
      return Response.json({ rows: [], removed: [] });
    });
    await api.read(REQUEST);
    session.enter('secret');

    expect(await api.read(REQUEST)).toEqual({ rows: [], removed: [] });
    const href = 'https://example.com/proxy/promscaler/api/v1/overview';
    expect(seen).toEqual([
      [href, { Accept: 'application/json' }],
      [href, { Accept: 'application/json', Authorization: 'Bearer secret' }],
    ]);
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [400, 'rejected'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])(
    'throws for the status %i an error of the kind %s with the message of the server',
    async (status, kind) => {
      const { api } = createFixture(() => Response.json({ error: 'this is why' }, { status }));

      await expect(api.read(REQUEST)).rejects.toMatchObject({ kind, message: 'this is why' });
    },
  );

  it.each([
    ['HTML of a proxy', '<html>', 'the answer of api/v1/overview is not from promscaler'],
    ['JSON of another program', '{"rows":1}', 'the answer of api/v1/overview is not from promscaler'],
    ['JSON that is too deep', '['.repeat(1e6), 'the answer of api/v1/overview is not from promscaler'],
  ])('throws for %s', async (_name, text, message) => {
    const { api } = createFixture(() => new Response(text));

    await expect(api.read(REQUEST)).rejects.toMatchObject({ kind: 'invalid', message });
  });

  it('throws if there is no answer within 20 s, and aborts the request', async () => {
    let signal: AbortSignal | null | undefined = null;
    const { api, clock } = createFixture((_url, init) => {
      signal = init.signal;
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
    });
    const read = api.read(REQUEST);
    const result = expect(read).rejects.toMatchObject({
      kind: 'timeout',
      message: 'promscaler did not answer within 20 s',
    });
    clock.advance(20_000);
    await result;

    expect((signal as AbortSignal | null)?.aborted).toBe(true);
  });

  it('throws if promscaler cannot be reached', async () => {
    const { api } = createFixture(() => Promise.reject(new TypeError('Failed to fetch')));

    await expect(api.read(REQUEST)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('demands a token after 401, but not for a request with an older token', async () => {
    const answers: (() => void)[] = [];
    const { api, session } = createFixture(
      () =>
        new Promise((resolve) =>
          answers.push(() => resolve(Response.json({ error: 'no token' }, { status: 401 }))),
        ),
    );
    const first = api.read(REQUEST).catch(() => undefined);
    const second = api.read(REQUEST).catch(() => undefined);
    answers[0]?.();
    await first;
    expect(session.state.get()).toEqual({ token: null, demand: '' });

    session.enter('secret');
    answers[1]?.();
    await second;

    expect(session.state.get()).toEqual({ token: 'secret', demand: null });
  });

  it('keeps names of scalers inside their part of the path', () => {
    expect(scalerRequest('a/../b', 'c?d#e%').path).toBe('api/v1/scalers/a%2F..%2Fb/c%3Fd%23e%25');
  });

  it.each([null, [], 1, 'x', {}, { rounds: {}, kubernetes: {} }])(
    'rejects %j as a service status',
    (value) => {
      expect(serviceRequest().check(value)).toBe(false);
    },
  );
});

describe('readBody', () => {
  it.each([
    [4, 'four'],
    [5, 'four'],
  ])('returns a text of 4 bytes if the maximum is %i', async (maxBytes, text) => {
    expect(await readBody(new Response(text), maxBytes)).toBe(text);
  });

  it('throws for 5 bytes if the maximum is 4, and stops reading', async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(5)),
      cancel: () => void (isCancelled = true),
    });

    await expect(readBody(new Response(endless), 4)).rejects.toMatchObject({ kind: 'invalid' });
    expect(isCancelled).toBe(true);
  });
});
