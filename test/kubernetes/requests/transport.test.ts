import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../src/kubernetes/access/connection.js';
import {
  createTransport,
  type KubernetesRequest,
  type RequestReport,
  type Transport,
} from '../../../src/kubernetes/requests/transport.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { eventually, ManualClock, settle } from '../../support/manual-clock.js';
import { cut, FakeApiServer, json, status, type Answer } from '../fake-api-server.js';

const CANARY = 'canary-5f1c';
const PATH = '/api/v1/things/one';

const READ: KubernetesRequest = {
  lane: 'read',
  path: PATH,
  doing: 'reading thing one',
  verb: 'get',
  resource: 'things',
  deadlineMs: 10_000,
};
const WRITE: KubernetesRequest = { ...READ, lane: 'write', verb: 'patch', body: { a: 1 } };

let fake: FakeApiServer;
let clock: ManualClock;
let transport: Transport;
let reports: RequestReport[];
let token: string;
let freshToken: string;

beforeEach(async () => {
  fake = await FakeApiServer.start();
  clock = new ManualClock();
  reports = [];
  token = freshToken = CANARY;
  const connection: Connection = {
    url: fake.url,
    source: 'test',
    authorization: (fresh = false) => {
      if (fresh) token = freshToken;
      return Promise.resolve(`Bearer ${token}`);
    },
    tls: () => Promise.resolve(null),
  };
  transport = createTransport({
    connection,
    clock,
    onRequest: (report) => reports.push(report),
    userAgent: 'promscaler/1.2.3',
  });
});

afterEach(async () => {
  transport.close();
  await fake.stop();
});

async function failure(request: KubernetesRequest): Promise<KubernetesError> {
  try {
    await transport.request(request);
  } catch (error) {
    if (error instanceof KubernetesError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

function text(code: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(code, headers);
    response.end(body);
  };
}

describe('an answer', () => {
  const answered = (code: number, text = '{"a":1}'): Answer => {
    return (response) => void response.writeHead(code, { 'content-type': 'application/json' }).end(text);
  };

  it.each([
    ['GET', 200, true],
    ['GET', 203, true],
    ['GET', 201, false],
    ['GET', 206, false],
    ['PATCH', 200, true],
    ['PATCH', 201, true],
    ['PATCH', 202, true],
    ['PATCH', 206, false],
  ] as const)('%s with %i: %s', async (method, code, isTaken) => {
    fake.on(method, PATH, answered(code));

    const answer = transport.request(method === 'GET' ? READ : WRITE);

    if (isTaken) await expect(answer).resolves.toEqual({ a: 1 });
    else await expect(answer).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  it.each([
    ['objects', `[${'{},'.repeat(200_000)}0]`, 'more than 200000 array elements and object members'],
    ['257 levels', `${'['.repeat(257)}${']'.repeat(257)}`, 'more than 256 levels of arrays and objects'],
  ])('is rejected before parsing: %s', async (_what, text, why) => {
    fake.on('GET', PATH, answered(200, text));

    await expect(transport.request(READ)).rejects.toMatchObject({
      kind: 'bad_answer',
      message: `reading thing one: 200, but the response has ${why}`,
    });
  });
});

describe('requests', () => {
  it('sends a PATCH as a merge-patch with token, user agent and a query that is encoded', async () => {
    fake.on('PATCH', PATH, json({ kind: 'Thing' }));

    const answer = await transport.request({ ...WRITE, query: { fieldManager: 'a&b' } });

    expect(answer).toEqual({ kind: 'Thing' });
    expect(fake.requests[0]).toMatchObject({
      query: { fieldManager: 'a&b' },
      body: { a: 1 },
      headers: {
        'content-type': 'application/merge-patch+json',
        authorization: `Bearer ${CANARY}`,
        'user-agent': 'promscaler/1.2.3',
      },
    });
    expect(reports).toEqual([{ verb: 'patch', resource: 'things', code: '200', seconds: 0 }]);
  });

  it.each([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [410, 'gone'],
    [422, 'invalid'],
    [429, 'rate_limited'],
    [500, 'server_error'],
    [504, 'server_error'],
    [302, 'bad_answer'],
  ])('treats a %i as %s', async (code, kind) => {
    fake.on('PATCH', PATH, status(code, 'because', { location: 'http://127.0.0.1:1/' }));

    const error = await failure(WRITE);

    expect(error.kind).toBe(kind);
    expect(error.status).toBe(code);
    expect(error.message).toMatch(new RegExp(`^reading thing one: ${code} [A-Z][A-Za-z ]+: because$`));
    expect(fake.requests).toHaveLength(1);
  });

  it.each([
    ['no JSON', text(200, '{"kind":')],
    ['a web page', text(200, '<html>log in</html>')],
    ['a list', text(200, '[]')],
    ['an empty body', text(200, '')],
  ])('rejects a 200 with %s as an invalid answer', async (_name, answer) => {
    fake.on('GET', PATH, answer);

    expect((await failure(READ)).kind).toBe('bad_answer');
  });

  it('reports the error of a service behind the proxy', async () => {
    fake.on('GET', PATH, text(404, '{"error":"there is no such page"}'));
    expect((await failure(READ)).message).toBe('reading thing one: 404 Not Found: there is no such page');
  });

  it('quotes nothing of an HTML error page, and only a part of a long text', async () => {
    fake.on('GET', PATH, text(502, '<html>secret page</html>'), text(502, `x\u0007\n${'y'.repeat(2000)}`));

    expect((await failure(READ)).message).toBe('reading thing one: 502 Bad Gateway');
    expect((await failure(READ)).message).toBe(`reading thing one: 502 Bad Gateway: x ${'y'.repeat(498)}...`);
  });

  it('reports a refused connection, after one retry of a GET and none of a PATCH', async () => {
    fake.on('GET', PATH, cut).on('PATCH', PATH, cut);

    expect((await failure(WRITE)).kind).toBe('connection');
    expect(fake.seen('PATCH')).toHaveLength(1);
    expect((await failure(READ)).message).toContain('reading thing one: ');
    expect(fake.seen('GET')).toHaveLength(2);
    expect(reports.map(({ code }) => code)).toEqual(['connection', 'connection', 'connection']);
  });

  it('retries a PATCH once that changes nothing when it is repeated, after a lost connection', async () => {
    fake.on('PATCH', PATH, cut, json({ a: 1 }), cut, cut, json({ a: 1 }));
    const patch = { ...WRITE, isRepeatable: true };

    expect(await transport.request(patch)).toEqual({ a: 1 });
    expect((await failure(patch)).kind).toBe('connection');

    expect(fake.seen('PATCH')).toHaveLength(4);
  });

  it('rejects an answer of more than 4 MiB', async () => {
    fake.on('GET', PATH, text(200, `"${'x'.repeat(4 * 1024 * 1024)}"`));

    expect((await failure(READ)).kind).toBe('bad_answer');
  });
});

describe('deadlines', () => {
  it('abort a slow answer 10 s after the call, together with its connection', async () => {
    let drip = (): void => undefined;
    fake.on('GET', PATH, (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      drip = () => response.write('x');
      drip();
    });
    const failing = failure(READ);
    await eventually(() => fake.requests.length === 1);

    for (let second = 0; second < 10; second += 1) {
      drip();
      await settle();
      clock.advance(1000);
    }
    const error = await failing;

    expect(error.kind).toBe('timeout');
    expect(error.message).toBe('reading thing one: timeout after 10000 ms');
    const { message } = error;
    expect(reports).toEqual([{ verb: 'get', resource: 'things', code: 'timeout', message, seconds: 10 }]);
    await eventually(() => fake.connections === 0);
    expect(clock.pending).toBe(0);
  });

  it('are distinguished from a cancellation', async () => {
    fake.on('GET', PATH, () => undefined);
    const controller = new AbortController();
    const failing = failure({ ...READ, signal: controller.signal });
    await eventually(() => fake.requests.length === 1);

    controller.abort();

    expect((await failing).kind).toBe('canceled');
  });
});

describe('retries', () => {
  it('repeat a GET after a Retry-After of 5 s', async () => {
    fake.on('GET', PATH, status(429, 'busy', { 'retry-after': '5' }), json({ kind: 'Thing' }));
    const answer = transport.request(READ);
    await eventually(() => reports.length === 1);
    await settle();

    clock.advance(4999);
    await settle();
    const early = fake.requests.length;
    clock.advance(1);

    expect(await answer).toEqual({ kind: 'Thing' });
    expect(early).toBe(1);
  });

  it.each([
    ['its Retry-After of 5 s', { 'retry-after': '5' }, 5000],
    ['1 s without a Retry-After', {}, 1000],
    ['1 s for a Retry-After of 0', { 'retry-after': '0' }, 1000],
  ])(
    'repeat a GET after a 429 when exactly %s have passed, whatever the random number',
    async (_what, headers, ms) => {
      clock.chance = 0.999;
      fake.on('GET', PATH, status(429, 'busy', headers), json({ kind: 'Thing' }));
      const answer = transport.request(READ);
      await eventually(() => reports.length === 1);
      await settle();

      clock.advance(ms - 1);
      await settle();
      const early = fake.requests.length;
      clock.advance(1);

      expect(await answer).toEqual({ kind: 'Thing' });
      expect(early).toBe(1);
    },
  );

  it.each([
    ['1 s, then 2 s, if each names 1 s', '1', [1000, 2000]],
    ['3 s each, if each names 3 s', '3', [3000, 3000]],
  ])('send a GET three times if every answer is 429: after %s', async (_, seconds, waitsMs) => {
    fake.on('GET', PATH, status(429, 'busy', { 'retry-after': seconds }));
    const failing = failure(READ);
    const sent: number[] = [];
    for (const [index, ms] of waitsMs.entries()) {
      await eventually(() => reports.length === index + 1);
      await settle();
      clock.advance(ms - 1);
      await settle();
      sent.push(fake.requests.length);
      clock.advance(1);
    }

    expect((await failing).kind).toBe('rate_limited');
    expect([...sent, fake.requests.length]).toEqual([1, 2, 3]);
  });

  it('do not wait for a Retry-After of 60 s if the deadline is 10 s', async () => {
    fake.on('GET', PATH, status(429, 'busy', { 'retry-after': '60' }));

    expect((await failure(READ)).retryAfterSeconds).toBe(60);
    expect(clock.monotonicMs()).toBe(0);
  });

  it('repeat no GET without Retry-After, and no PATCH with one', async () => {
    fake.on('GET', PATH, status(503, 'away')).on('PATCH', PATH, status(429, 'busy', { 'retry-after': '1' }));

    expect((await failure(READ)).retryAfterSeconds).toBeNull();
    expect((await failure(WRITE)).retryAfterSeconds).toBe(1);
    expect(fake.requests).toHaveLength(2);
  });

  it.each([
    ['9999', 60],
    ['0', 0],
    ['soon', null],
    ['Thu, 01 Jan 2026 00:00:07 GMT', 7],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ])('read Retry-After %s as %p s', async (header, seconds) => {
    fake.on('PATCH', PATH, status(429, 'busy', { 'retry-after': header }));

    expect((await failure(WRITE)).retryAfterSeconds).toBe(seconds);
  });

  it('send 100 writes at once and the next after 20 ms', async () => {
    fake.on('PATCH', PATH, json({ kind: 'Thing' }));
    const all = Promise.all(Array.from({ length: 101 }, () => transport.request(WRITE)));
    await eventually(() => reports.length === 100);

    clock.advance(20);
    await all;

    expect(reports).toHaveLength(101);
  });
});

describe('credentials', () => {
  it('are read again after a 401, which repeats even a PATCH, once', async () => {
    freshToken = 'rotated';
    fake.on('PATCH', PATH, status(401, 'expired'), json({ kind: 'Thing' }));

    await transport.request(WRITE);

    expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${CANARY}`,
      'Bearer rotated',
    ]);
  });

  it('are not sent again after a 401 if the token is the same', async () => {
    fake.on('GET', PATH, status(401, 'who are you'));

    expect((await failure(READ)).kind).toBe('unauthorized');
    expect(fake.requests).toHaveLength(1);
  });

  it('appear in no error, even if the server echoes them', async () => {
    fake.on('GET', PATH, status(400, `bad header Bearer ${CANARY}`), text(500, `dump ${CANARY}`), cut);

    for (let attempt = 0; attempt < 3; attempt += 1) {
      const error = await failure(READ);
      const seen = `${JSON.stringify(error)} ${error.stack ?? ''} ${String(error.cause)}`;
      expect(seen).not.toContain(CANARY);
      expect(Object.values(error)).not.toContainEqual(expect.objectContaining({ config: expect.anything() }));
    }
  });

  it('are sent to no proxy of the environment and no redirect', async () => {
    const before = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = 'http://127.0.0.1:1';
    fake.on('GET', PATH, text(307, '', { location: `${fake.url}/elsewhere` }));
    try {
      expect((await failure(READ)).status).toBe(307);
    } finally {
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    }
    expect(fake.requests.map(({ path }) => path)).toEqual([PATH]);
  });
});

describe('lanes', () => {
  it('let reads through while all connections of the write lane hang', async () => {
    fake.on('PATCH', PATH, () => undefined).on('GET', PATH, json({ kind: 'Thing' }));
    const hanging = Promise.allSettled(Array.from({ length: 20 }, () => transport.request(WRITE)));
    await eventually(() => fake.seen('PATCH').length === 10);

    expect(await transport.request(READ)).toEqual({ kind: 'Thing' });

    clock.advance(10_000);
    expect(new Set((await hanging).map(({ status: state }) => state))).toEqual(new Set(['rejected']));
  });
});
