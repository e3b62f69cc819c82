import { describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { diagnosed, server } from './fixture.js';

async function closedPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

describe('notifications', () => {
  it('sends each receiver a GET, and reports those that cannot be reached without their URLs', async () => {
    const { url, requests } = await server((response, request) =>
      response.writeHead(request.url === '/api/v2/status' ? 200 : 405).end(),
    );
    const dead = `http://127.0.0.1:${await closedPort()}`;
    const { results } = await diagnosed({
      config: `notifications:
  alerts: { format: alertmanager, url: '${url}' }
  hook: { url: '${url}/hook' }
  wrong: { format: alertmanager, url: '${url}/other' }
  dead: { url: '${dead}/t0ken' }
  missing: { format: slack, urlFile: none/url }
`,
    });
    const found = results.filter(({ check }) => check === 'notifications');

    expect(found.map(({ subject, status }) => [subject, status])).toEqual([
      ['receiver alerts', 'ok'],
      ['receiver hook', 'ok'],
      ['receiver wrong', 'failed'],
      ['receiver dead', 'failed'],
      ['receiver missing', 'failed'],
    ]);
    expect(found.slice(2)).toMatchObject([
      {
        message: 'the receiver cannot be reached: rejected (status 405)',
        fix: expect.stringContaining('.wrong.url'),
      },
      {
        message: 'the receiver cannot be reached: connection',
        fix: expect.stringContaining('NetworkPolicy'),
      },
      {
        message: 'the receiver cannot be reached: credentials',
        fix: expect.stringContaining('.missing.urlFile'),
      },
    ]);
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    expect(JSON.stringify(found)).not.toContain('t0ken');
  });
});
