import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { connectTo, findConnection, type Connection } from '../../../src/kubernetes/access/connection.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { ManualClock } from '../../support/manual-clock.js';
import { CA, CLIENT_CERTIFICATE, CLIENT_KEY } from './test-certificates.js';

const CANARY = 'canary-77aa';

let folder: string;
let clock: ManualClock;
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promscaler-connection-'));
  clock = new ManualClock();
  warnings = [];
});

afterEach(() => rm(folder, { recursive: true }));

type Options = Partial<Parameters<typeof findConnection>[0]>;

function find(options: Options = {}): Promise<Connection> {
  return findConnection({
    settings: {},
    env: {},
    home: folder,
    clock,
    log: { ...SILENT_LOG, warn: (message) => warnings.push(message) },
    serviceAccountDirectory: folder,
    ...options,
  });
}

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

async function message(finding: Promise<unknown>): Promise<string> {
  try {
    await finding;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    expect(text).not.toContain(CANARY);
    return text.replaceAll(folder, 'DIRECTORY');
  }
  throw new Error('it did not fail');
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig of one context, cluster and user. */
function kubeconfig(
  parts: { readonly cluster?: object; readonly user?: object; readonly name?: string } = {},
): string {
  const { cluster = {}, user = { token: CANARY }, name = 'dev' } = parts;
  return JSON.stringify({
    'current-context': name,
    clusters: [{ name, cluster: { server: 'https://example.test:6443', ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}

const IN_CLUSTER = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

describe('in a pod', () => {
  beforeEach(async () => {
    await write('token', ` ${CANARY}\n`);
    await write('ca.crt', CA);
  });

  it('returns the namespace of the service account if its file exists, else none', async () => {
    const before = await find({ env: IN_CLUSTER });
    await write('namespace', 'monitoring\n');

    expect([before.namespace, (await find({ env: IN_CLUSTER })).namespace]).toEqual([
      undefined,
      'monitoring',
    ]);
  });

  it('uses the service account', async () => {
    const connection = await find({ env: IN_CLUSTER });

    expect(connection.url).toBe('https://10.0.0.1:443');
    expect(connection.source).toBe('service account of this pod, https://10.0.0.1:443');
    expect(await connection.authorization()).toBe(`Bearer ${CANARY}`);
    expect(await connection.tls()).toMatchObject({ ca: CA.trim(), verify: true, serverName: null });
  });

  it('reports that it runs in a cluster, and its namespace if that file exists', async () => {
    expect(await find({ env: IN_CLUSTER })).toMatchObject({ isInCluster: true });
    expect((await find({ env: IN_CLUSTER })).namespace).toBeUndefined();
    await write('namespace', 'scaling\n');

    expect((await find({ env: IN_CLUSTER })).namespace).toBe('scaling');
  });

  it('puts an IPv6 address in brackets', async () => {
    const env = { ...IN_CLUSTER, KUBERNETES_SERVICE_HOST: 'fd00::1' };

    expect((await find({ env })).url).toBe('https://[fd00::1]:443');
  });

  it('reads the token again after 60 s, not after 59, and at once when requested', async () => {
    const { authorization } = await find({ env: IN_CLUSTER });
    await write('token', 'second');

    clock.advance(59_999);
    const at59 = await authorization();
    clock.advance(1);
    const at60 = await authorization();
    await write('token', 'third');

    expect([at59, at60]).toEqual([`Bearer ${CANARY}`, 'Bearer second']);
    expect(await authorization(true)).toBe('Bearer third');
  });

  it('keeps the last valid token while the file is empty or deleted, and reports that', async () => {
    const { authorization } = await find({ env: IN_CLUSTER });

    await write('token', '\n');
    const whileEmpty = await authorization(true);
    await rm(join(folder, 'token'));
    const whileGone = await authorization(true);

    expect([whileEmpty, whileGone]).toEqual([`Bearer ${CANARY}`, `Bearer ${CANARY}`]);
    expect(warnings).toHaveLength(2);
  });

  it('reads the CA again after 5 minutes and keeps the old one if the new content is not PEM', async () => {
    const { tls } = await find({ env: IN_CLUSTER });
    const first = await tls();
    await write('ca.crt', 'broken');
    clock.advance(300_000);
    const broken = await tls();
    await write('ca.crt', CLIENT_CERTIFICATE);
    clock.advance(300_000);

    expect(broken).toBe(first);
    expect((await tls())?.ca).toBe(CLIENT_CERTIFICATE.trim());
  });

  it('names the token file if it is missing', async () => {
    await rm(join(folder, 'token'));

    expect(await message(find({ env: IN_CLUSTER }))).toMatch(
      /^service account of this pod, https:\/\/10\.0\.0\.1:443: reading DIRECTORY\/token: ENOENT/,
    );
  });

  it('uses another https address with the service account, and http without any credentials', async () => {
    const https = await find({ env: IN_CLUSTER, settings: { url: 'https://api.test/' } });
    const http = await find({ env: IN_CLUSTER, settings: { url: 'http://127.0.0.1:8001' } });

    expect([https.url, await https.authorization()]).toEqual(['https://api.test', `Bearer ${CANARY}`]);
    expect([http.url, await http.authorization(), await http.tls()]).toEqual([
      'http://127.0.0.1:8001',
      null,
      null,
    ]);
  });
});

describe('kubeconfig', () => {
  it('uses the setting before the service account, and $KUBECONFIG before ~/.kube/config', async () => {
    const named = await write('named', kubeconfig({ name: 'named' }));
    const listed = await write('listed', kubeconfig({ name: 'listed' }));
    await write('.kube/config', kubeconfig({ name: 'home' }));

    const sources = [
      await find({ settings: { kubeconfig: named }, env: { ...IN_CLUSTER, KUBECONFIG: listed } }),
      await find({ env: { KUBECONFIG: listed } }),
      await find(),
    ].map(({ source }) => source.replaceAll(folder, 'DIRECTORY'));

    expect(sources).toEqual([
      'kubeconfig DIRECTORY/named, context "named", https://example.test:6443',
      'kubeconfig DIRECTORY/listed, context "listed", https://example.test:6443',
      'kubeconfig DIRECTORY/.kube/config, context "home", https://example.test:6443',
    ]);
  });

  it('has the namespace of the context, if set', async () => {
    const named = kubeconfig().replace('"user":"dev"', '"user":"dev","namespace":"shop"');
    const path = await write('named', named);
    const plain = await write('plain', kubeconfig({ cluster: { server: 'http://127.0.0.1:1' } }));

    const found = await find({ settings: { kubeconfig: path } });
    const none = await find({ settings: { kubeconfig: plain } });

    expect([found.namespace, none.namespace]).toEqual(['shop', undefined]);
  });

  it('merges several files, with precedence for the first, and skips one that does not exist', async () => {
    const contexts = await write(
      'a',
      JSON.stringify({
        'current-context': 'both',
        contexts: [{ name: 'both', context: { cluster: 'far', user: 'me' } }],
        clusters: null,
      }),
    );
    const rest = await write(
      'b',
      JSON.stringify({
        'current-context': 'other',
        clusters: [{ name: 'far', cluster: { server: 'https://far.test' } }],
        users: [{ name: 'me', user: { token: CANARY } }],
      }),
    );

    const connection = await find({
      env: { KUBECONFIG: [contexts, join(folder, 'none'), rest].join(delimiter) },
    });

    expect(connection.url).toBe('https://far.test');
    expect(connection.source).toContain(`kubeconfig ${contexts}, ${rest}, context "both"`);
  });

  it('uses the configured context and URL', async () => {
    const two = JSON.parse(kubeconfig()) as { contexts: unknown[] };
    two.contexts.push({ name: 'second', context: { cluster: 'dev' } });
    await write('.kube/config', JSON.stringify(two));

    const connection = await find({ settings: { context: 'second', url: 'https://elsewhere.test' } });

    expect(connection.url).toBe('https://elsewhere.test');
    expect(await connection.authorization()).toBeNull();
  });

  it('reads inline certificates, and files next to the kubeconfig', async () => {
    await write('.kube/pki/ca.crt', CA);
    await write(
      '.kube/config',
      kubeconfig({
        cluster: { 'certificate-authority': 'pki/ca.crt', 'tls-server-name': 'kubernetes' },
        user: {
          'client-certificate-data': base64(CLIENT_CERTIFICATE),
          'client-key-data': base64(CLIENT_KEY),
        },
      }),
    );

    expect(await (await find()).tls()).toEqual({
      ca: CA.trim(),
      certificate: CLIENT_CERTIFICATE,
      key: CLIENT_KEY,
      serverName: 'kubernetes',
      verify: true,
    });
  });

  it('prefers tokenFile to token, and accepts user and password', async () => {
    await write('.kube/secret', `${CANARY}-file\n`);
    await write('.kube/config', kubeconfig({ user: { token: CANARY, tokenFile: 'secret' } }));
    const file = await (await find()).authorization();
    await write('.kube/config', kubeconfig({ user: { username: 'me', password: 'pw' } }));

    expect(file).toBe(`Bearer ${CANARY}-file`);
    expect(await (await find()).authorization()).toBe(`Basic ${base64('me:pw')}`);
  });

  it('warns if the certificate is not verified', async () => {
    await write('.kube/config', kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }));

    expect((await (await find()).tls())?.verify).toBe(false);
    expect(warnings).toEqual(['the certificate of the Kubernetes API is not verified']);
  });

  it('sends no credentials over plain http', async () => {
    await write('.kube/config', kubeconfig({ cluster: { server: 'http://127.0.0.1:8080' } }));

    expect(await (await find()).authorization()).toBeNull();
  });

  it.each([
    [
      'kubeconfig DIRECTORY/.kube/config: context "dev" gets its credentials from the plugin "aws", but this command runs no plugins',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' } } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev": exec.apiVersion must be client.authentication.k8s.io/v1 or',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1', command: 'aws' } } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev": exec has no command',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1' } } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev": the plugin "aws" requires a terminal',
      {
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'aws',
            interactiveMode: 'Always',
          },
        },
      },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev" gets its credentials from the plugin "gcp"',
      { user: { 'auth-provider': { name: 'gcp' } } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev": the fields as-uid, as-groups and as-user-extra require the field as',
      { user: { token: CANARY, 'as-groups': ['ops'] } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev": the fields as, as-uid, as-groups and as-user-extra must be ASCII',
      { user: { token: CANARY, as: 'a\r\nX: y' } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev" must have both client-certificate and client-key',
      { user: { 'client-certificate': 'x' } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: user "dev": client-key-data is not base64-encoded PEM',
      { user: { 'client-certificate': 'x', 'client-key-data': base64(CANARY) } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: cluster "dev": proxy-url must be a URL with http://, https:// or socks5://',
      { cluster: { 'proxy-url': `socks4://me:${CANARY}@proxy` } },
    ],
    ['kubeconfig DIRECTORY/.kube/config: cluster "dev" has no server', { cluster: { server: '' } }],
    [
      'kubeconfig DIRECTORY/.kube/config: server must begin with http:// or https:// and must not contain a user',
      { cluster: { server: 'ftp://x' } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: server must begin with http:// or https:// and must not contain a user',
      { cluster: { server: `https://me:${CANARY}@x` } },
    ],
    [
      'kubeconfig DIRECTORY/.kube/config: cluster "dev" has both certificate-authority and insecure',
      { cluster: { 'certificate-authority': 'x', 'insecure-skip-tls-verify': true } },
    ],
    ['kubeconfig DIRECTORY/.kube/config: users.0.user.token: Invalid input', { user: { token: 5 } }],
  ])('reports: %s', async (words, parts) => {
    await write('.kube/config', kubeconfig(parts));

    expect(await message(find())).toContain(words);
  });

  it('rejects a file that holds a string', async () => {
    await write('.kube/config', CANARY);

    expect(await message(find())).toBe('kubeconfig DIRECTORY/.kube/config: must be an object');
  });

  it('names file, line and column of invalid YAML and quotes none of it', async () => {
    await write('.kube/config', `users:\n- name: x\n  user: {token: ${CANARY}\nclusters: []\n`);

    expect(await message(find())).toMatch(
      /^kubeconfig DIRECTORY\/\.kube\/config: line \d, column \d+: not valid YAML/,
    );
  });

  it('lists the contexts if the requested one does not exist', async () => {
    await write('.kube/config', kubeconfig());

    expect(await message(find({ settings: { context: 'prod' } }))).toBe(
      'kubeconfig DIRECTORY/.kube/config: context "prod" does not exist. Available contexts: "dev"',
    );
  });

  it('lists the locations it tried if there is no configuration', async () => {
    expect(await message(find())).toBe(
      'no connection to the Kubernetes API is configured: DIRECTORY/.kube/config does not exist, and KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod',
    );
    expect(await message(find({ settings: { kubeconfig: join(folder, 'x') } }))).toBe(
      'no connection to the Kubernetes API is configured: DIRECTORY/x does not exist',
    );
  });
});

describe('connectTo', () => {
  it('removes a trailing slash from the address', async () => {
    const connection = connectTo('http://127.0.0.1:8001/base/');

    expect(connection.url).toBe('http://127.0.0.1:8001/base');
    expect(await connection.authorization()).toBeNull();
  });
});
