import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { SigV4Config } from '../../../src/prometheus/data-source/source-config.js';
import type { OutgoingRequest } from '../../../src/prometheus/sign-in/sign-in.js';
import { createSigV4 } from '../../../src/prometheus/sign-in/sigv4.js';
import { parseInstant } from '../../../src/units/time.js';
import { type FakeServer, realClock, startServer, vectorBody } from '../fakes.js';
import { ask, clientFor, movableClock } from './endpoints.js';

/** The keys, the date and the scope of AWS' published suite of test vectors (aws-sig-v4-test-suite). */
const SUITE_KEYS = keysFile('AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
const SUITE_DATE = parseInstant('2015-08-30T12:36:00Z');

let directory: string;
let credentialsFile: string;
const environment = { ...process.env };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sigv4-test-'));
  credentialsFile = join(directory, 'credentials');
});
afterAll(() => rm(directory, { recursive: true }));
beforeEach(() => writeFile(credentialsFile, SUITE_KEYS));
afterEach(() => {
  process.env = { ...environment };
});

function keysFile(id: string, secret: string): string {
  return `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`;
}

function aConfig(overrides: Partial<SigV4Config> = {}): SigV4Config {
  return {
    way: 'sigv4',
    region: 'us-east-1',
    service: 'service',
    roleArn: null,
    profile: null,
    credentialsFile,
    ...overrides,
  };
}

const GET: OutgoingRequest = {
  method: 'GET',
  url: 'https://example.amazonaws.com/',
  body: null,
  contentType: null,
};

function signedBy(request: Partial<OutgoingRequest>) {
  if (SUITE_DATE === null) throw new Error('no date');
  const clock = { ...realClock, now: () => SUITE_DATE };
  return createSigV4(aConfig(), clock)({ ...GET, ...request }, new AbortController().signal);
}

describe("a request of AWS' suite", () => {
  it.each<[string, Partial<OutgoingRequest>, string, string]>([
    [
      'get-vanilla',
      {},
      'host;x-amz-date',
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'get-vanilla-query-order-key-case',
      { url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1' },
      'host;x-amz-date',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'post-vanilla',
      { method: 'POST' },
      'host;x-amz-date',
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'post-x-www-form-urlencoded',
      { method: 'POST', body: 'Param1=value1', contentType: 'application/x-www-form-urlencoded' },
      'content-type;host;x-amz-date',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s has the published signature', async (_name, request, names, signature) => {
    const { headers } = await signedBy(request);

    expect(headers).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    });
  });

  it('has another signature if one byte of the form differs', async () => {
    const form = { method: 'POST', contentType: 'application/x-www-form-urlencoded' } as const;

    const [one, other] = await Promise.all(
      ['query=up', 'query=uq'].map((body) => signedBy({ ...form, body })),
    );

    expect(one?.headers['authorization']).not.toBe(other?.headers['authorization']);
  });
});

describe('sigv4', () => {
  let server: FakeServer;
  let accepts: (authorization: string) => boolean;

  beforeEach(async () => {
    accepts = () => true;
    server = await startServer((response, { headers }) => {
      if (accepts(headers.authorization ?? '')) return response.end(vectorBody([{ labels: {}, value: 1 }]));
      response.statusCode = 403;
      return response.end(
        `{"message":"The security token included in the request is expired: ${headers['x-amz-security-token'] as string}"}`,
      );
    });
  });
  afterEach(() => server.close());

  const clientOf = (config: Partial<SigV4Config>, clock = movableClock()) => ({
    clock,
    client: clientFor({ url: `${server.url}/workspaces/ws-1`, signIn: aConfig(config), clock }),
  });

  it('signs the form that is sent, for the host it is sent to', async () => {
    await expect(ask(clientOf({}).client)).resolves.toMatchObject({ class: 'value' });

    const [request] = server.requests;
    if (request === undefined) throw new Error('nothing was sent');
    const date = request.headers['x-amz-date'] as string;
    const sentAt = parseInstant(
      date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
    );
    if (sentAt === null) throw new Error(`no date: ${date}`);
    const again = await createSigV4(aConfig(), { ...realClock, now: () => sentAt })(
      {
        method: 'POST',
        url: `http://${request.headers.host ?? ''}${request.url}`,
        body: request.form.toString(),
        contentType: request.headers['content-type'] ?? null,
      },
      new AbortController().signal,
    );
    expect(request.url).toBe('/workspaces/ws-1/api/v1/query');
    expect(request.headers.authorization).toBe(again.headers['authorization']);
    expect(request.headers.authorization).toContain('SignedHeaders=content-type;host;x-amz-date');
  });

  it('uses the keys of the environment and sends the session token, which appears in no error', async () => {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'AKIDENV',
      AWS_SECRET_ACCESS_KEY: 'canary-secret',
      AWS_SESSION_TOKEN: 'canary-session',
    });
    accepts = () => false;

    const answer = await ask(clientOf({ credentialsFile: null }).client);

    expect(server.requests[0]?.headers).toMatchObject({ 'x-amz-security-token': 'canary-session' });
    expect(server.requests[0]?.headers.authorization).toContain('Credential=AKIDENV/');
    expect(answer).toMatchObject({ class: 'failed', reason: 'unauthorized' });
    expect(JSON.stringify(answer)).not.toContain('canary');
  });

  it('reads the file again after 300 s, and at once when keys of 30 s are rejected with 403', async () => {
    const { client, clock } = clientOf({});
    await ask(client);
    await writeFile(credentialsFile, keysFile('AKIDSECOND', 'canary-2'));

    clock.move(29);
    await ask(client);
    accepts = (authorization) => !authorization.includes('AKIDEXAMPLE');
    clock.move(1.1);
    const rotated = await ask(client);

    expect(rotated).toMatchObject({ class: 'value' });
    expect(
      server.requests.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1]),
    ).toEqual(['AKIDEXAMPLE', 'AKIDEXAMPLE', 'AKIDEXAMPLE', 'AKIDSECOND']);
  });

  it('names the failed step if there are no keys, without the content of the file', async () => {
    await writeFile(credentialsFile, '[other]\naws_secret_access_key = canary\n');

    const answer = await ask(clientOf({}).client);

    expect(answer).toMatchObject({ class: 'failed', reason: 'unauthorized' });
    expect(JSON.stringify(answer)).toContain('sigv4: finding AWS credentials');
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(server.requests).toEqual([]);
  });
});

describe('sigv4 through a token service', () => {
  let sts: FakeServer;
  let prometheus: FakeServer;
  let status = 200;

  beforeEach(async () => {
    status = 200;
    sts = await startServer((response, { form }) => {
      response.statusCode = status;
      response.setHeader('content-type', 'text/xml');
      response.end(status === 200 ? given(form.get('Action') ?? '') : DENIED);
    });
    prometheus = await startServer((response) => response.end(vectorBody([{ labels: {}, value: 1 }])));
    process.env['AWS_ENDPOINT_URL_STS'] = sts.url;
  });
  afterEach(() => Promise.all([sts.close(), prometheus.close()]));

  const DENIED =
    '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not with canary</Message></Error></ErrorResponse>';

  function given(action: string): string {
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    return `<${action}Response><${action}Result><Credentials><AccessKeyId>AKIDROLE${sts.requests.length}</AccessKeyId><SecretAccessKey>canary-role</SecretAccessKey><SessionToken>canary-session</SessionToken><Expiration>${expiration}</Expiration></Credentials></${action}Result></${action}Response>`;
  }

  const sentBy = (): readonly unknown[] =>
    prometheus.requests.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1]);

  it('assumes the role with the keys of the file, again a minute before the hour is over', async () => {
    const clock = movableClock();
    const signIn = aConfig({ roleArn: 'arn:aws:iam::123456789012:role/reader' });
    const client = clientFor({ url: prometheus.url, signIn, clock });

    await ask(client);
    clock.move(3530);
    await ask(client);
    clock.move(80);
    await ask(client);

    expect(Object.fromEntries(sts.requests[0]?.form ?? [])).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: 'arn:aws:iam::123456789012:role/reader',
    });
    expect(sts.requests[0]?.headers.authorization).toContain('Credential=AKIDEXAMPLE/');
    expect(sentBy()).toEqual(['AKIDROLE1', 'AKIDROLE1', 'AKIDROLE2']);
  });

  it('uses the web identity of the service account (IRSA), read again for each renewal', async () => {
    const tokenFile = join(directory, 'web-identity');
    await writeFile(tokenFile, 'canary-web-1');
    Object.assign(process.env, {
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pod',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    });
    const clock = movableClock();
    const client = clientFor({ url: prometheus.url, signIn: aConfig({ credentialsFile: null }), clock });

    await ask(client);
    await writeFile(tokenFile, 'canary-web-2');
    clock.move(3610);
    await ask(client);

    expect(sts.requests.map(({ form }) => form.get('WebIdentityToken'))).toEqual([
      'canary-web-1',
      'canary-web-2',
    ]);
    expect(sentBy()).toEqual(['AKIDROLE1', 'AKIDROLE2']);
  });

  it('reports the code of a rejection, without its text', async () => {
    status = 403;
    const signIn = aConfig({ roleArn: 'arn:aws:iam::123456789012:role/reader' });

    const answer = await ask(clientFor({ url: prometheus.url, signIn }));

    expect(JSON.stringify(answer)).toContain('AccessDenied');
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(prometheus.requests).toEqual([]);
  });
});
