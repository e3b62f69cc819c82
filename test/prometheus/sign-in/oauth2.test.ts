import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OAuth2Config } from '../../../src/prometheus/data-source/source-config.js';
import { eventually } from '../../support/manual-clock.js';
import { type FakeServer, type RecordedRequest, startServer } from '../fakes.js';
import { ask, clientFor, guardedPrometheus, movableClock } from './endpoints.js';

type Reply = Parameters<Parameters<typeof startServer>[0]>[0];

const CANARY = 'canary:secret/1 %';

let directory: string;
let secretFile: string;
let idp: FakeServer;
let prometheus: FakeServer;
/** The behavior of the token endpoint; by default it issues token-1, token-2 and so on for an hour. */
let respond: (response: Reply, request: RecordedRequest) => void;
let accepted: (token: string) => boolean;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oauth2-test-'));
  secretFile = join(directory, 'secret');
});
afterAll(() => rm(directory, { recursive: true }));

beforeEach(async () => {
  await writeFile(secretFile, `${CANARY}\n`);
  respond = (response) => give(response, `token-${idp.requests.length}`);
  accepted = () => true;
  idp = await startServer((response, request) => respond(response, request));
  prometheus = await guardedPrometheus(
    (authorization) => authorization.startsWith('Bearer ') && accepted(authorization.slice('Bearer '.length)),
  );
});
afterEach(() => Promise.all([idp.close(), prometheus.close()]));

function give(response: Reply, token: string, expiresIn: number | undefined = 3600): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: expiresIn }));
}

function refuse(response: Reply, error: string): void {
  response.statusCode = 401;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ error, error_description: `wrong secret ${CANARY}` }));
}

function aClient(overrides: Partial<OAuth2Config> = {}, clock = movableClock()) {
  const signIn: OAuth2Config = {
    way: 'oauth2',
    tokenUrl: `${idp.url}/token`,
    clientId: 'prom:scaler',
    clientSecretFile: secretFile,
    scopes: ['read', 'metrics'],
    endpointParams: { audience: 'prom' },
    tls: null,
    ...overrides,
  };
  return { client: clientFor({ url: prometheus.url, signIn, clock }), clock };
}

const many = (token: string): readonly string[] => [token, token, token];

const tokensSent = (): readonly string[] =>
  prometheus.requests.map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', ''));

describe('oauth2', () => {
  it('requests a token with Basic authentication, scopes and parameters, and sends it', async () => {
    await expect(ask(aClient().client)).resolves.toMatchObject({ class: 'value' });

    const [request] = idp.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/token' });
    expect(Object.fromEntries(request?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      scope: 'read metrics',
      audience: 'prom',
    });
    const basic = (request?.headers.authorization ?? '').replace('Basic ', '');
    // RFC 6749, section 2.3.1: both are form-encoded first.
    expect(Buffer.from(basic, 'base64').toString()).toBe('prom%3Ascaler:canary%3Asecret%2F1+%25');
    expect(tokensSent()).toEqual(['token-1']);
  });

  it('requests one token for 20 concurrent queries', async () => {
    const { client } = aClient();

    await Promise.all(Array.from({ length: 20 }, () => ask(client)));

    expect(idp.requests).toHaveLength(1);
    expect(prometheus.requests).toHaveLength(20);
  });

  it('keeps a token of 3600 s for 3539 s, then renews it while queries are sent', async () => {
    const { client, clock } = aClient();
    await ask(client);

    clock.move(3539);
    await ask(client);
    expect(idp.requests).toHaveLength(1);
    clock.move(2);
    await ask(client);
    expect(tokensSent()).toEqual(['token-1', 'token-1', 'token-1']);
    for (let asked = 0; asked < 1000 && tokensSent().at(-1) === 'token-1'; asked += 1) await ask(client);

    expect(tokensSent().at(-1)).toBe('token-2');
    expect(idp.requests).toHaveLength(2);
  });

  it('renews a token of 100 s after 80 s, and waits for a new one once it has ended', async () => {
    respond = (response) => give(response, `token-${idp.requests.length}`, 100);
    const { client, clock } = aClient();
    await ask(client);

    clock.move(79);
    await ask(client);
    clock.move(22);
    await ask(client);

    expect(tokensSent()).toEqual(['token-1', 'token-1', 'token-2']);
  });

  it('renews a token without expires_in after 300 s', async () => {
    respond = (response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ access_token: `token-${idp.requests.length}`, token_type: 'bearer' }));
    };
    const { client, clock } = aClient();
    await ask(client);

    clock.move(299);
    await ask(client);
    expect(idp.requests).toHaveLength(1);
    clock.move(2);
    await ask(client);

    await eventually(() => idp.requests.length === 2);
  });

  it('uses the old token while the endpoint is down, until it expires', async () => {
    const { client, clock } = aClient();
    await ask(client);
    respond = (response) => response.destroy();

    clock.move(3550);
    await expect(ask(client)).resolves.toMatchObject({ class: 'value' });
    clock.move(51);
    await expect(ask(client)).resolves.toMatchObject({ class: 'failed', reason: 'unauthorized' });

    expect(tokensSent()).toEqual(['token-1', 'token-1']);
  });
});

describe('a 401 for a token', () => {
  it('renews it once for all queries if it is 30 s old, and retries', async () => {
    const { client, clock } = aClient();
    await ask(client);
    accepted = (token) => token !== 'token-1';

    clock.move(30);
    const answers = await Promise.all([ask(client), ask(client), ask(client)]);

    expect(answers.map((answer) => answer.class)).toEqual(['value', 'value', 'value']);
    expect(idp.requests).toHaveLength(2);
    expect(tokensSent()).toEqual(['token-1', ...many('token-1'), ...many('token-2')]);
  });

  it('does not renew a token of 29 s, and does not retry', async () => {
    const { client, clock } = aClient();
    await ask(client);
    accepted = () => false;

    clock.move(29);
    await expect(ask(client)).resolves.toMatchObject({ class: 'failed', reason: 'unauthorized' });

    expect(idp.requests).toHaveLength(1);
    expect(prometheus.requests).toHaveLength(2);
  });

  it('renews no more than once in 30 s', async () => {
    const { client, clock } = aClient();
    accepted = () => false;
    await ask(client);
    clock.move(31);

    const answers = [await ask(client), await ask(client), await ask(client)];

    expect(idp.requests).toHaveLength(2);
    expect(JSON.stringify(answers)).not.toContain('token-');
  });

  it('removes the token from an error text that repeats it', async () => {
    const echo = await startServer((response, { headers }) => {
      response.statusCode = 400;
      const error = `what is ${headers.authorization ?? ''}`;
      response.end(JSON.stringify({ status: 'error', errorType: 'bad_data', error }));
    });
    const signIn: OAuth2Config = {
      way: 'oauth2',
      tokenUrl: idp.url,
      clientId: 'me',
      clientSecretFile: secretFile,
      scopes: [],
      endpointParams: {},
      tls: null,
    };

    const answer = await ask(clientFor({ url: echo.url, signIn }));
    await echo.close();

    expect(JSON.stringify(answer)).toContain('what is Bearer [secret]');
  });

  it('uses the current secret of the file', async () => {
    const { client, clock } = aClient();
    await ask(client);
    accepted = (token) => token !== 'token-1';
    await writeFile(secretFile, 'rotated');

    clock.move(31);
    await ask(client);

    const basic = (idp.requests[1]?.headers.authorization ?? '').replace('Basic ', '');
    expect(Buffer.from(basic, 'base64').toString()).toBe('prom%3Ascaler:rotated');
  });
});

describe('a token endpoint that issues no token', () => {
  const failure = async (timeoutMs = 5000): Promise<string> => {
    const answer = await ask(aClient().client, timeoutMs);
    expect(answer).toMatchObject({ class: 'failed' });
    expect(prometheus.requests).toEqual([]);
    const text = JSON.stringify(answer);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(Buffer.from('canary').toString('base64').slice(0, 6));
    return text;
  };

  it('is reported with its error code, not its description, and the settings to check', async () => {
    respond = (response) => refuse(response, 'invalid_client');

    const text = await failure();

    expect(text).toContain('"reason":"unauthorized"');
    expect(text).toContain('HTTP 401, invalid_client');
    expect(text).toContain('oauth2.clientId, clientSecretFile and scopes');
  });

  it('is not reported with a code that contains a part of the request', async () => {
    respond = (response) => refuse(response, CANARY);

    await failure();
  });

  it.each([
    ['a page', 200, 'text/html', '<html>canary login</html>'],
    ['an error page', 502, 'text/html', '<html>canary gateway</html>'],
    ['no token', 200, 'application/json', '{"canary":1}'],
    ['another kind of token', 200, 'application/json', '{"access_token":"canary","token_type":"mac"}'],
    ['nothing', 204, 'text/plain', ''],
  ])('is reported if it answers with %s', async (_name, status, type, body) => {
    respond = (response) => {
      response.statusCode = status;
      response.setHeader('content-type', type);
      response.end(body);
    };

    expect(await failure()).toContain(`oauth2: the token endpoint ${new URL(idp.url).host}`);
  });

  it('is reported if it redirects, and the redirect is not followed', async () => {
    respond = (response) => {
      response.statusCode = 307;
      response.setHeader('location', `${idp.url}/elsewhere`);
      response.end();
    };

    expect(await failure()).toContain('answered with a redirect, which is not followed');
    expect(idp.requests).toHaveLength(1);
  });

  it('is reported if it does not exist', async () => {
    await idp.close();

    expect(await failure()).toContain('connection refused');
  });

  it('is too slow: the query ends at its own deadline of 200 ms', async () => {
    respond = () => undefined;
    const start = performance.now();

    expect(await failure(200)).toContain('"reason":"timeout"');
    // Well before the 5000 ms of every other query here.
    expect(performance.now() - start).toBeLessThan(4000);
  });

  it('gets no request for 5 s after it failed', async () => {
    respond = (response) => refuse(response, 'invalid_client');
    const { client, clock } = aClient();
    await ask(client);

    clock.move(4);
    await ask(client);
    expect(idp.requests).toHaveLength(1);
    clock.move(1.1);
    respond = (response) => give(response, 'token');

    await expect(ask(client)).resolves.toMatchObject({ class: 'value' });
  });

  it('gets no request while the secret file cannot be read', async () => {
    const { client } = aClient({ clientSecretFile: join(directory, 'nosuch') });

    await expect(ask(client)).resolves.toMatchObject({
      reason: 'unauthorized',
      message: expect.stringContaining('the file of oauth2.clientSecretFile'),
    });
    expect(idp.requests).toEqual([]);
  });
});
