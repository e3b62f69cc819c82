import { afterEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { createTokenAccess } from '../../../src/server/access/access-control.js';
import type { AccessControl } from '../../../src/server/access/access-control.js';
import { createReviewAccess } from '../../../src/server/access/review-access.js';
import { createApp } from '../../../src/server/app.js';
import { ROUTES } from '../../../src/api/routes.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { createEventStreams } from '../../../src/server/event-streams.js';
import { createRecords } from '../../../src/telemetry/records.js';
import type { Records } from '../../../src/telemetry/records.js';
import { at } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { record, scalerIn } from '../../telemetry/record-builder.js';
import { partsOf, promptly } from '../app-parts.js';

const servers: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Fixture {
  readonly records: Records;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
}

async function serve(access: AccessControl): Promise<Fixture> {
  const clock = new ManualClock();
  const records = createRecords(clock);
  for (const namespace of ['shop', 'secret'])
    records.ledger.add(record({ scaler: scalerIn(namespace, `${namespace}-web`) }));
  const streams = createEventStreams({ feed: records.feed, clock: promptly(clock) });
  const problem = { code: 'c', severity: 'error', place: null, path: '', sourceLine: null } as const;
  const problems = () => [
    { ...problem, message: 'in secret', file: 'scalers.promscaler.dev/secret/web' },
    { ...problem, message: 'in shop', file: 'scalers.promscaler.dev/shop/web' },
    { ...problem, message: 'in a secret file', file: 'secret.yaml' },
  ];
  const app = createApp(partsOf(records, { access, api: { streams, problems } }));
  const server = await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
  servers.push(server);
  return {
    records,
    get: (path, headers = {}) =>
      fetch(`${server.url}${path}`, { headers: { ...headers, Connection: 'close' } }),
  };
}

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

/** Users by token: the namespaces they may read; null: all. */
const USERS = new Map<string, readonly string[] | null>([
  ['admin', null],
  ['shop', ['shop']],
  ['nobody', []],
]);

function reviewed({
  isDown = (): boolean => false,
  clock = new ManualClock(),
}: { readonly isDown?: () => boolean; readonly clock?: ManualClock } = {}) {
  const asked: string[] = [];
  const ask = (question: string): void => {
    asked.push(question);
    if (isDown()) throw new Error('connection refused');
  };
  const access = createReviewAccess<string>({
    clock,
    namespaces: () => ['shop', 'secret'],
    onError: () => undefined,
    reviews: {
      userOf: async (token) => {
        ask(`token ${token}`);
        return Promise.resolve(USERS.has(token) ? token : null);
      },
      mayRead: async (user, namespace) => {
        ask(`${user} ${namespace ?? '*'}`);
        const allowed = USERS.get(user) ?? null;
        return Promise.resolve(allowed === null || (namespace !== null && allowed.includes(namespace)));
      },
      readUser: (json) => (typeof json === 'string' ? json : null),
    },
  });
  return { access, asked, clock };
}

const API = ROUTES.filter(({ path }) => path.startsWith('/api/')).map(({ path }) =>
  path.replace('{namespace}', 'secret').replace('{name}', 'secret-web'),
);

describe('a bearer token file', () => {
  const access = createTokenAccess(() => Promise.resolve('right'));

  it.each(API)('protects %s', async (path) => {
    const { get } = await serve(access);

    const statuses = [await get(path), await get(path, bearer('wrong')), await get(path, bearer('right'))];

    expect(statuses.map(({ status }) => status).slice(0, 2)).toEqual([401, 401]);
    expect([200, 404]).toContain(statuses[2]?.status);
    for (const response of statuses) await response.body?.cancel();
  });

  it.each(['/healthz', '/readyz', '/metrics'])('does not protect %s', async (path) => {
    const { get } = await serve(access);

    expect((await get(path)).status).toBe(200);
  });

  it.each([
    ['Basic right', 401],
    ['Bearer', 401],
    ['Bearer right right', 401],
    ['bearer right', 200],
    [`Bearer ${'x'.repeat(7000)}`, 401],
  ])('answers Authorization: %.20s with %i', async (authorization, status) => {
    const { get } = await serve(access);

    expect((await get('/api/v1/scalers', { Authorization: authorization })).status).toBe(status);
  });

  it('is accepted in the header that the service proxy of the API server leaves alone', async () => {
    const { get } = await serve(access);
    const header = 'X-Promscaler-Authorization';

    const right = await get('/api/v1/scalers', { [header]: 'Bearer right' });
    const wrong = await get('/api/v1/scalers', { [header]: 'Bearer wrong' });

    expect([right.status, wrong.status]).toEqual([200, 401]);
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer realm="promscaler", error="invalid_token"');
  });

  it('answers 503 while the file cannot be read, never without a check', async () => {
    const { get } = await serve(createTokenAccess(() => Promise.resolve(null)));

    expect((await get('/api/v1/scalers', bearer('right'))).status).toBe(503);
  });
});

describe('a token review', () => {
  it.each([
    '/api/v1/scalers',
    '/api/v1/overview',
    '/api/v1/service',
    '/api/v1/scalers?namespace=secret',
    '/api/v1/overview?namespace=secret',
  ])('hides other namespaces in %s', async (path) => {
    const { get } = await serve(reviewed().access);

    const [all, shop, none] = await Promise.all(
      ['admin', 'shop', 'nobody'].map(async (token) => (await get(path, bearer(token))).text()),
    );

    expect(all).toContain('secret');
    expect(shop).not.toContain('secret');
    expect(none).not.toMatch(/secret|shop/);
  });

  it.each(['', '/decisions', '/snapshot', '/history', '/events'])(
    'answers for a hidden scaler as for one that does not exist: %s',
    async (page) => {
      const { get } = await serve(reviewed().access);
      const read = async (name: string, token: string): Promise<readonly unknown[]> => {
        const response = await get(`/api/v1/scalers/${name}${page}`, bearer(token));
        return [response.status, (await response.text()).replaceAll(name, 'NAME')];
      };

      const hidden = await read('secret/secret-web', 'shop');

      expect(hidden).toEqual(await read('shop/nothing', 'shop'));
      expect(hidden[0]).toBe(404);
      expect((await read('secret/secret-web', 'admin'))[0]).not.toBe(401);
    },
  );

  it('hides the events of other namespaces, also after a Last-Event-ID', async () => {
    const { get, records } = await serve(reviewed().access);
    const first = records.feed.lastId();
    const publish = (namespace: string): void =>
      records.feed.publish({
        type: 'failure',
        at: at(0),
        namespace,
        name: 'web',
        subject: 'change',
        failing: true,
        message: '',
      });
    for (const namespace of ['secret', 'shop']) publish(namespace);

    const response = await get('/api/v1/events', { ...bearer('shop'), 'Last-Event-ID': first });
    const body: ReadableStream<Uint8Array> | null = response.body;
    const reader = body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    for (const namespace of ['secret', 'shop']) publish(namespace);
    const live = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();

    expect([text, live].map((one) => one.match(/"namespace":"[a-z]+"/g))).toEqual([
      ['"namespace":"shop"'],
      ['"namespace":"shop"'],
    ]);
  });

  it('answers 503 if the API server does not answer, at each step', async () => {
    let isDown = true;
    const clock = new ManualClock();
    const { get } = await serve(reviewed({ isDown: () => isDown, clock }).access);
    const status = async (): Promise<number> => (await get('/api/v1/scalers', bearer('shop'))).status;

    expect(await status()).toBe(503);
    isDown = false;
    expect(await status()).toBe(200);
    clock.advance(60_000);
    isDown = true;
    expect(await status()).toBe(503);
  });
});

describe('the reviews of clients', () => {
  const SHOP = ['token shop', 'shop *', 'shop secret', 'shop shop'];

  it('are shared by concurrent requests and kept for 60 s', async () => {
    const { access, asked, clock } = reviewed();

    await Promise.all([access.check('shop', null), access.check('shop', null)]);
    clock.advance(59_999);
    await access.check('shop', null);
    expect(asked).toEqual(SHOP);
    clock.advance(1);
    await access.check('shop', null);

    expect(asked).toEqual([...SHOP, ...SHOP]);
  });

  it('ask only for the namespace of the request, and never for one without scalers', async () => {
    const { access, asked } = reviewed();

    await access.check('shop', 'shop');
    for (let index = 0; index < 100; index += 1) await access.check('shop', `made-up-${index}`);

    expect(asked).toEqual(['token shop', 'shop *', 'shop shop']);
  });

  it('of invalid tokens are kept for 10 s, and limited to 50 at once and 10 per second', async () => {
    const { access, asked, clock } = reviewed();
    for (let index = 0; index < 10; index += 1) await access.check('bad', null);
    expect(asked).toEqual(['token bad']);

    const kinds = [];
    for (let index = 0; index < 1000; index += 1) kinds.push((await access.check(`bad-${index}`, null)).kind);

    expect([asked.length, kinds.filter((kind) => kind === 'refused').length]).toEqual([50, 49]);
    expect(new Set(kinds.slice(49))).toEqual(new Set(['unavailable']));
    clock.advance(1000);
    for (let index = 0; index < 100; index += 1) await access.check(`more-${index}`, null);
    expect(asked.length).toBe(60);
  });

  it('of a token that was valid 50 minutes ago continue after 5,000 unknown ones at the limit of 10 per second', async () => {
    const { access, asked, clock } = reviewed();
    await access.check('shop', 'shop');
    for (let second = 0; second < 3000; second += 1) {
      clock.advance(1000);
      if (second % 6 === 0)
        for (let index = 0; index < 10; index += 1) await access.check(`bad-${second}-${index}`, null);
    }
    for (let index = 0; index < 100; index += 1) await access.check(`last-${index}`, null);
    const rejected = await access.check('another', null);

    const verdict = await access.check('shop', 'shop');

    expect(asked.filter((question) => question.startsWith('token bad-'))).toHaveLength(5000);
    expect(rejected.kind).toBe('unavailable');
    expect(verdict.kind).toBe('admitted');
  });

  it('of a token that was valid continue during a flood of invalid ones', async () => {
    const { access, clock } = reviewed();
    await access.check('shop', null);
    clock.advance(60_000);
    for (let index = 0; index < 900; index += 1) await access.check(`bad-${index}`, null);

    expect((await access.check('shop', null)).kind).toBe('admitted');
  });
});
