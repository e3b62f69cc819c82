import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openAccess } from '../../src/service/open-http.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import { connectTo } from '../../src/kubernetes/access/connection.js';
import { createTransport } from '../../src/kubernetes/requests/transport.js';
import type { Transport } from '../../src/kubernetes/requests/transport.js';
import { createUserReviews } from '../../src/kubernetes/access-review.js';
import type { AccessControl } from '../../src/server/access/access-control.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { type Facts, SILENT_LOG } from '../../src/units/log.js';
import { ManualClock } from '../support/manual-clock.js';

const READ = { apiGroups: ['promscaler.dev'], resources: ['scalers'], verbs: ['get'] };
/** The rules of the ClusterRole system:auth-delegator. */
const DELEGATOR = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];
const RBAC = {
  service: { user: 'system:serviceaccount:ops:promscaler', rules: DELEGATOR },
  unbound: { user: 'system:serviceaccount:ops:unbound', rules: [] },
  admin: { user: 'ann', rules: [READ] },
  shop: { user: 'bob', rules: [{ ...READ, namespaces: ['shop'] }] },
  lists: { user: 'eve', rules: [{ ...READ, verbs: ['list', 'watch'] }] },
};

let simulator: Simulator;
let clock: ManualClock;
let transports: Transport[];
let warnings: unknown[];

beforeEach(async () => {
  simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['shop', 'pay'], rbac: RBAC });
  clock = new ManualClock();
  transports = [];
  warnings = [];
});

afterEach(async () => {
  for (const transport of transports) transport.close();
  await simulator.close();
});

function transportOf(token: string): Transport {
  const authorization = (): Promise<string> => Promise.resolve(`Bearer ${token}`);
  const connection = { ...connectTo(simulator.url), authorization };
  const transport = createTransport({ connection, clock: SYSTEM_CLOCK });
  transports.push(transport);
  return transport;
}

function opened(token = 'service'): AccessControl {
  const { server } = resolveServiceConfig({ server: { auth: { tokenReview: true } } }, null);
  const warn = (message: string, facts: Facts = {}): void => void warnings.push([message, facts['error']]);
  const access = openAccess(server, {
    transport: transportOf(token),
    namespaces: () => ['shop', 'pay'],
    clock,
    log: { ...SILENT_LOG, warn },
  });
  if (access === null) throw new Error('there is no access control');
  return access;
}

/** What the owner of a token sees of the namespaces, or why it is not admitted. */
async function seen(access: AccessControl, token: string): Promise<unknown> {
  const verdict = await access.check(token, null);
  return verdict.kind === 'admitted' ? ['shop', 'pay', 'other'].filter(verdict.viewer.sees) : verdict.kind;
}

describe('server.auth.tokenReview', () => {
  it.each([
    ['admin', ['shop', 'pay', 'other']],
    ['shop', ['shop']],
    ['lists', []],
    ['unknown', 'refused'],
    ['a"b', 'refused'],
  ])('the client with the token %s sees %j', async (token, expected) => {
    expect(await seen(opened(), token)).toEqual(expected);
    expect(warnings).toEqual([]);
  });

  it('refuses everybody without the binding to system:auth-delegator, and logs it once a minute', async () => {
    const access = opened('unbound');

    expect([await seen(access, 'admin'), await seen(access, 'shop')]).toEqual(['unavailable', 'unavailable']);
    expect(warnings).toEqual([
      [
        'failed to review API client; request rejected',
        expect.stringContaining('cannot create resource "tokenreviews" in API group "authentication.k8s.io"'),
      ],
    ]);

    clock.advance(59_999);
    await seen(access, 'admin');
    expect(warnings).toHaveLength(1);

    clock.advance(1);
    await seen(access, 'admin');
    expect(warnings).toHaveLength(2);
  });

  it('never logs the token', async () => {
    await seen(opened('unbound'), 'very-secret');

    expect(JSON.stringify(warnings)).not.toContain('very-secret');
  });
});

describe('the reviews', () => {
  it('return the user of a token with its groups', async () => {
    const { userOf } = createUserReviews(transportOf('service'));

    expect(await userOf('shop')).toEqual({
      username: 'bob',
      fields: { groups: ['system:authenticated'] },
    });
    expect(await userOf('unknown')).toBeNull();
  });

  it('ask for the verb get of scalers in one or in all namespaces', async () => {
    const { mayRead } = createUserReviews(transportOf('service'));
    const bob = { username: 'bob', fields: {} };

    expect([await mayRead(bob, 'shop'), await mayRead(bob, 'pay'), await mayRead(bob, null)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each([
    { status: { authenticated: 'true', user: { username: 'ann' } } },
    { status: { authenticated: true, user: { username: '' } } },
    { status: { authenticated: true, user: ['ann'] } },
    { status: { user: { username: 'ann' } } },
    { status: null },
    {},
  ])('of a token with the odd answer %j find no user', async (answer) => {
    const { userOf } = createUserReviews({ request: () => Promise.resolve(answer) });

    expect(await userOf('token')).toBeNull();
  });

  it.each([
    { status: { allowed: 'true' } },
    { status: { allowed: true, denied: true } },
    { status: { reason: 'x' } },
    {},
  ])('of a permission with the odd answer %j deny it', async (answer) => {
    const { mayRead } = createUserReviews({ request: () => Promise.resolve(answer) });

    expect(await mayRead({ username: 'ann', fields: {} }, null)).toBe(false);
  });

  it('pass on groups, uid and extra fields of the user', async () => {
    const sent: unknown[] = [];
    const { mayRead } = createUserReviews({
      request: ({ body }) => {
        sent.push(body);
        return Promise.resolve({ status: { allowed: true } });
      },
    });
    const fields = { uid: '1', groups: ['dev'], extra: { scopes: ['a'] }, more: 'x' };

    expect(await mayRead({ username: 'ann', fields }, 'shop')).toBe(true);
    expect(sent).toMatchObject([
      { spec: { user: 'ann', uid: '1', groups: ['dev'], extra: { scopes: ['a'] } } },
    ]);
    expect(JSON.stringify(sent)).not.toContain('more');
  });
});
