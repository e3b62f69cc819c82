import { describe, expect, it } from '@jest/globals';
import { createProbe } from '../../../src/cli/checks/open-data-source.js';
import { recognizePage } from '../../../src/cli/checks/prometheus.js';
import { aSource } from '../../support/builders.js';
import { realClock } from '../../prometheus/fakes.js';
import { serve } from '../../prometheus/served.js';

const { signal } = new AbortController();

describe('createProbe', () => {
  it('returns a page with its redirect, which it does not follow', async () => {
    const server = await serve((response) => {
      response.writeHead(302, { Location: '/login' });
      response.end();
    });
    const probe = createProbe(aSource({ urls: [server.url] }), realClock);

    const page = await probe({ url: `${server.url}/x`, parameters: { a: '1' }, timeoutMs: 10_000, signal });

    expect(page).toMatchObject({ class: 'answered', status: 302, location: '/login' });
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([['GET', '/x?a=1']]);
  });

  it('sends the credentials of the data source only to its own hosts', async () => {
    const own = await serve((response) => response.end('{}'));
    const other = await serve((response) => response.end('{}'));
    const probe = createProbe(aSource({ urls: [own.url], headers: { 'X-Token': 'secret' } }), realClock);

    await probe({ url: `${own.url}/`, timeoutMs: 10_000, signal });
    const refused = await probe({ url: `${other.url}/`, timeoutMs: 10_000, signal });

    expect(own.requests[0]?.headers['x-token']).toBe('secret');
    expect(other.requests).toEqual([]);
    expect(refused).toMatchObject({ class: 'failed' });
  });

  it('returns the code of a failure', async () => {
    const probe = createProbe(aSource({ urls: ['http://127.0.0.1:1'] }), realClock);

    const page = await probe({ url: 'http://127.0.0.1:1/', timeoutMs: 10_000, signal });

    expect(page).toMatchObject({ class: 'failed', code: 'ECONNREFUSED', reason: 'connection' });
  });
});

describe('recognizePage', () => {
  const page = (body: string, location: string | null = null): ReturnType<typeof recognizePage> =>
    recognizePage({ status: location === null ? 200 : 302, contentType: null, body, location });

  it.each([
    ['/login', 'a login page'],
    ['https://idp/realms/x/protocol/openid-connect/auth?x=1', 'a login page'],
    ['/dex/auth', 'a login page'],
    ['/authors', null],
    ['/prometheus/graph', null],
  ])('reads a redirect to %s as %s', (location, name) => {
    expect(page('', location)).toBe(name);
  });

  it('returns nothing for an unknown body', () => {
    expect([page(''), page('{"a":1}'), page('teapot')]).toEqual([null, null, null]);
  });
});
