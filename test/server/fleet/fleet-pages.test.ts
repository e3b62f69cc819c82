import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { createAccessCheck } from '../../../src/server/access/access-control.js';
import { ofOwner } from '../../../src/server/fleet/fleet-pages.js';
import type { Peer } from '../../../src/server/fleet/peer-check.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { PEER_KEYS } from './peer-keys.js';

const PEER: Peer = { identity: 'promscaler-1', address: 'http://10.0.0.2:8080' };
const servers: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Requests the page of shop/web, which `owner` decides and does not answer for. */
async function requestPage(owner: Peer | null, keys = PEER_KEYS): Promise<readonly unknown[]> {
  const fleet = {
    identity: 'promscaler-0',
    isOwn: () => false,
    ownerOf: () => owner,
    peers: () => [],
    keys: () => Promise.resolve(keys),
  };
  const page = ofOwner((_request, response) => response.json({}), {
    fleet,
    ask: () => Promise.resolve(null),
  });
  const app = express().get('/:namespace/:name', createAccessCheck(null), page);
  const server = await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
  servers.push(server);
  const response = await fetch(`${server.url}/shop/web`);
  return [response.status, response.headers.get('retry-after'), await response.json()];
}

describe('the page of a scaler that another replica decides', () => {
  it.each([
    ['no replica is responsible for it yet', null, 'no replica is responsible for shop/web yet: retry later'],
    [
      'that replica does not answer',
      PEER,
      'replica promscaler-1, which is responsible for shop/web, did not answer',
    ],
  ])('is 503 with Retry-After if %s', async (_, owner, error) => {
    expect(await requestPage(owner)).toEqual([503, '1', { error }]);
  });

  it('names the missing key, without which that replica is not asked', async () => {
    const error =
      'replica promscaler-1, which is responsible for shop/web, cannot be queried: server.peerKeyFile is unset or has no key of at least 32 characters';

    expect(await requestPage(PEER, [])).toEqual([503, '1', { error }]);
  });
});
