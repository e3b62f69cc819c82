import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CredentialError } from '../../../src/http/credentials.js';
import type { AzureConfig } from '../../../src/prometheus/data-source/source-config.js';
import { createAzure } from '../../../src/prometheus/sign-in/azure.js';
import type { SignIn } from '../../../src/prometheus/sign-in/sign-in.js';
import { createTokenHttp, type TokenHttp } from '../../../src/prometheus/sign-in/token-http.js';
import { type FakeServer, realClock, startServer } from '../fakes.js';
import { movableClock } from './endpoints.js';

const ANY = { method: 'GET', url: 'http://localhost/', body: null, contentType: null } as const;
const SIGNAL = new AbortController().signal;

let directory: string;
let tokenFile: string;
let server: FakeServer;
let status: number;
const asked: string[] = [];
const environment = { ...process.env };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'azure-test-'));
  tokenFile = join(directory, 'token');
});
afterAll(() => rm(directory, { recursive: true }));

beforeEach(async () => {
  status = 200;
  asked.length = 0;
  await writeFile(tokenFile, 'canary-federated-1');
  server = await startServer((response, { url, method }) => {
    response.setHeader('content-type', 'application/json');
    if (url.includes('openid-configuration')) return response.end(discovery());
    response.statusCode = status;
    if (status !== 200) return response.end(REFUSAL);
    const token = { access_token: `azure-${asked.length}`, token_type: 'Bearer' };
    const ends = method === 'GET' ? { expires_on: String(Math.round(Date.now() / 1000) + 3600) } : {};
    return response.end(JSON.stringify({ ...token, expires_in: 3600, ...ends, resource: 'x' }));
  });
});
afterEach(async () => {
  process.env = { ...environment };
  await server.close();
});

const REFUSAL = JSON.stringify({
  error: 'invalid_client',
  error_description: 'AADSTS700211: no matching federated identity record for canary-federated-1',
  error_codes: [700211],
});

function discovery(): string {
  const base = 'https://login.microsoftonline.com/tenant-1';
  return JSON.stringify({
    token_endpoint: `${base}/oauth2/v2.0/token`,
    authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
    issuer: `${base}/v2.0`,
    jwks_uri: `${base}/keys`,
  });
}

/** The library requires https and its own hosts: its requests are redirected to the server of the test. */
const redirected: TokenHttp = (request) => {
  const { pathname, search, host } = new URL(request.url);
  asked.push(host);
  return createTokenHttp({ clock: realClock, tls: null, what: 'azure' })({
    ...request,
    url: `${server.url}${pathname}${search}`,
  });
};

function anAzure(
  config: Partial<AzureConfig>,
  env: Readonly<Record<string, string>>,
  clock = realClock,
): SignIn {
  const full: AzureConfig = { way: 'azure', clientId: null, tenantId: null, cloud: 'public', ...config };
  return createAzure(full, clock, env, redirected);
}

const inAks = (): Readonly<Record<string, string>> => ({
  AZURE_FEDERATED_TOKEN_FILE: tokenFile,
  AZURE_CLIENT_ID: 'client-1',
  AZURE_TENANT_ID: 'tenant-1',
});

const tokenRequests = () => server.requests.filter(({ method }) => method === 'POST');

describe('AKS workload identity', () => {
  it('is exchanged for a token of the workspace', async () => {
    const { headers } = await anAzure({}, inAks())(ANY, SIGNAL);

    expect(headers['Authorization']).toMatch(/^Bearer azure-\d+$/);
    expect(new Set(asked)).toEqual(new Set(['login.microsoftonline.com']));
    const [request] = tokenRequests();
    expect(request?.url).toContain('/tenant-1/oauth2/v2.0/token');
    expect(Object.fromEntries(request?.form ?? [])).toMatchObject({
      grant_type: 'client_credentials',
      client_id: 'client-1',
      client_assertion: 'canary-federated-1',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      scope: 'https://prometheus.monitor.azure.com/.default',
    });
  });

  it('uses client and tenant of the config before those of the pod', async () => {
    await anAzure({ clientId: 'client-2', tenantId: 'tenant-2' }, inAks())(ANY, SIGNAL);

    expect(tokenRequests()[0]?.form.get('client_id')).toBe('client-2');
    expect(server.requests[0]?.url).toContain('/tenant-2/');
  });

  it('reads the federated token again after an hour, and uses one token for 10 concurrent requests', async () => {
    const clock = movableClock();
    const azure = anAzure({}, inAks(), clock);
    await Promise.all(Array.from({ length: 10 }, () => azure(ANY, SIGNAL)));
    await writeFile(tokenFile, 'canary-federated-2');

    clock.move(3610);
    await azure(ANY, SIGNAL);

    expect(tokenRequests().map(({ form }) => form.get('client_assertion'))).toEqual([
      'canary-federated-1',
      'canary-federated-2',
    ]);
  });

  it('reports the code of a rejection, without the token that its text repeats', async () => {
    status = 400;

    const error: unknown = await anAzure({}, inAks())(ANY, SIGNAL).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(CredentialError);
    expect(String(error)).toContain('AADSTS700211');
    expect(String(error)).not.toContain('canary');
  });

  it('names the settings that are unset', async () => {
    const env = { ...inAks(), AZURE_CLIENT_ID: '' };

    await expect(anAzure({}, env)(ANY, SIGNAL)).rejects.toThrow('set azure.clientId and azure.tenantId');
  });
});

describe('the managed identity of the machine', () => {
  it('gets its token from the metadata service, for the client of the config', async () => {
    const { headers } = await anAzure({ clientId: 'client-3' }, {})(ANY, SIGNAL);

    expect(headers['Authorization']).toBe('Bearer azure-1');
    expect(asked).toEqual(['169.254.169.254']);
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'GET', headers: { metadata: 'true' } });
    const query = new URL(request?.url ?? '', server.url).searchParams;
    expect(query.get('resource')).toBe('https://prometheus.monitor.azure.com');
    expect(query.get('client_id')).toBe('client-3');
  });
});
