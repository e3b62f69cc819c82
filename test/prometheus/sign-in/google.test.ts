import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeServer, startServer } from '../fakes.js';
import { ask, clientFor, guardedPrometheus, movableClock } from './endpoints.js';

const environment = { ...process.env };
let metadata: FakeServer;
let prometheus: FakeServer;
let status: number;
let accepted: (authorization: string) => boolean;

const tokens = () => metadata.requests.filter(({ url }) => url.includes('/token'));

beforeEach(async () => {
  status = 200;
  accepted = (authorization) => authorization.startsWith('Bearer google-');
  metadata = await startServer((response, { url }) => {
    response.setHeader('metadata-flavor', 'Google');
    response.setHeader('content-type', 'application/json');
    if (!url.includes('/token')) return response.end('{}');
    response.statusCode = status;
    if (status !== 200) return response.end('{"error":"canary"}');
    const token = `google-${tokens().length}`;
    return response.end(JSON.stringify({ access_token: token, expires_in: 3600, token_type: 'Bearer' }));
  });
  prometheus = await guardedPrometheus((authorization) => accepted(authorization));
  process.env['GCE_METADATA_HOST'] = new URL(metadata.url).host;
  process.env['HOME'] = '/nonexistent';
});
afterEach(async () => {
  process.env = { ...environment };
  await Promise.all([metadata.close(), prometheus.close()]);
});

describe('google', () => {
  it('uses the token of the metadata server, one for 10 queries, and the next after an hour', async () => {
    const clock = movableClock();
    const client = clientFor({ url: prometheus.url, signIn: { way: 'google' }, clock });

    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(client)));
    clock.move(3610);
    await ask(client);

    expect(answers.map((answer) => answer.class)).toEqual(Array<string>(10).fill('value'));
    expect(tokens()).toHaveLength(2);
    expect(tokens()[0]?.headers['metadata-flavor']).toBe('Google');
    expect(tokens()[0]?.url).toContain(encodeURIComponent('auth/monitoring.read'));
    expect(prometheus.requests.at(-1)?.headers.authorization).toBe('Bearer google-2');
  });

  it('requests another token after a 401', async () => {
    const clock = movableClock();
    const client = clientFor({ url: prometheus.url, signIn: { way: 'google' }, clock });
    await ask(client);
    accepted = (authorization) => authorization === 'Bearer google-2';

    clock.move(31);

    await expect(ask(client)).resolves.toMatchObject({ class: 'value' });
  });

  it('reports that it got no token, without the text of the server', async () => {
    status = 403;

    const answer = await ask(clientFor({ url: prometheus.url, signIn: { way: 'google' } }));

    expect(answer).toMatchObject({ class: 'failed', reason: 'unauthorized' });
    expect(JSON.stringify(answer)).toContain('google: requesting a token');
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(prometheus.requests).toEqual([]);
  });
});
