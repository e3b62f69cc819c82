import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { readBoundedText } from '../../files/read-bounded.js';
import { errorFacts } from '../api/json.js';
import { EXEC, INSTEAD_OF_PLUGIN, readExec, type ExecConfig } from './exec-plugin.js';

export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Fields of a kubeconfig user that impersonate another user. */
const IMPERSONATION = {
  as: z.string().nullish(),
  'as-uid': z.string().nullish(),
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
};

type ImpersonatedUser = z.infer<z.ZodObject<typeof IMPERSONATION>>;

/**
 * Returns the headers that impersonate the user in `as`; empty if `as` is unset. If a field is invalid, returns a
 * string that names the field. Source: k8s.io/client-go/transport/round_trippers.go.
 */
function impersonationHeaders(user: ImpersonatedUser): RequestHeaders | string {
  const { as: name, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const headers: Record<string, string | readonly string[]> = {};
  if (uid !== undefined && uid !== null && uid !== '') headers['Impersonate-Uid'] = uid;
  if (groups !== undefined && groups !== null && groups.length > 0) headers['Impersonate-Group'] = groups;
  for (const [key, values] of Object.entries(extra ?? {}))
    if (values.length > 0) headers[`Impersonate-Extra-${escapeKey(key)}`] = values;
  if (name === undefined || name === null || name === '')
    return Object.keys(headers).length === 0
      ? {}
      : 'the fields as-uid, as-groups and as-user-extra require the field as';
  headers['Impersonate-User'] = name;
  const isSendable = Object.values(headers)
    .flat()
    .every((value) => /^[\x20-\x7e]*$/.test(value));
  return isSendable
    ? headers
    : 'the fields as, as-uid, as-groups and as-user-extra must be ASCII without line breaks';
}

/** Percent-encodes characters that a header name does not allow, and the percent sign. */
function escapeKey(key: string): string {
  return Array.from(new TextEncoder().encode(key), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9!#$&'*+.^_`|~-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** The connection settings are invalid or missing. The message names the file and contains no secrets. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

export type Pem = { readonly text: string } | { readonly path: string };

/** A context of a kubeconfig with its cluster and its user. Paths are absolute. */
export interface KubeconfigAccess {
  readonly context: string;
  readonly namespace: string | null;
  readonly files: readonly string[];
  readonly server: string;
  readonly ca: Pem | null;
  readonly insecureSkipVerify: boolean;
  readonly serverName: string | null;
  /** The URL of a proxy, `http:` or `https:`; may contain a user and a password. */
  readonly proxyUrl: string | null;
  /** Headers that impersonate another user. */
  readonly impersonation: RequestHeaders;
  readonly certificate: Pem | null;
  readonly key: Pem | null;
  readonly token: string | null;
  readonly tokenFile: string | null;
  readonly basic: { readonly username: string; readonly password: string } | null;
  /** The credential plugin; null: the kubeconfig itself contains the credentials. */
  readonly exec: ExecConfig | null;
  /** `spec.cluster.config` for the plugin; null: there is none. */
  readonly execExtension: unknown;
}

const text = z.string().nullish();

const CLUSTER = z.looseObject({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
  'proxy-url': text,
  extensions: z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish(),
});

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

const USER = z.looseObject({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  username: text,
  password: text,
  ...IMPERSONATION,
  exec: EXEC.nullish(),
  'auth-provider': z.looseObject({ name: text }).nullish(),
});

const CONTEXT = z.looseObject({ cluster: text, user: text, namespace: text });

const KUBECONFIG = z.looseObject({
  'current-context': text,
  clusters: z.array(z.looseObject({ name: z.string(), cluster: CLUSTER.nullish() })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: USER.nullish() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context: CONTEXT.nullish() })).nullish(),
});

interface Entry<T> {
  readonly value: T;
  readonly file: string;
}

interface Merged {
  readonly clusters: Map<string, Entry<z.infer<typeof CLUSTER>>>;
  readonly users: Map<string, Entry<z.infer<typeof USER>>>;
  readonly contexts: Map<string, Entry<z.infer<typeof CONTEXT>>>;
  currentContext: string | null;
  readonly files: string[];
}

/**
 * Reads kubeconfig files and returns `context` (default: their current context); null: no file exists. As in kubectl,
 * the first file that defines a name takes precedence, and missing files are skipped. Throws `ConnectionError`.
 */
export async function readKubeconfig(
  paths: readonly string[],
  context: string | null,
): Promise<KubeconfigAccess | null> {
  const merged = await readMerged(paths);
  return merged.files.length === 0 ? null : resolveContext(merged, context);
}

/** Returns the names of all contexts in kubeconfig files. Throws `ConnectionError`. */
export async function readContextNames(paths: readonly string[]): Promise<readonly string[]> {
  const { contexts } = await readMerged(paths);
  return [...contexts.keys()];
}

async function readMerged(paths: readonly string[]): Promise<Merged> {
  const merged: Merged = {
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
    currentContext: null,
    files: [],
  };
  for (const path of paths) {
    const source = await readIfExists(path);
    if (source !== null) merge(merged, path, parse(path, source));
  }
  return merged;
}

/** Limits a kubeconfig. Dozens of clusters with their certificates take only a few hundred KiB. */
const MAX_BYTES = 8 * 1024 * 1024;

async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readBoundedText(path, { mostBytes: MAX_BYTES, pipe: {} });
  } catch (cause) {
    const { code, message } = errorFacts(cause);
    if (code === 'ENOENT') return null;
    throw new ConnectionError(`kubeconfig ${path}: ${message}`, { cause });
  }
}

function parse(file: string, source: string): z.infer<typeof KUBECONFIG> {
  const lines = new LineCounter();
  // `prettyErrors` would quote the line, which may contain a token.
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const error = document.errors[0];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    const what = error.code.toLowerCase().replaceAll('_', ' ');
    throw new ConnectionError(`kubeconfig ${file}: line ${line}, column ${col}: not valid YAML (${what})`);
  }
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new ConnectionError(`kubeconfig ${file}: not valid YAML (unresolved or too many aliases)`);
  }
  const result = KUBECONFIG.safeParse(content ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const isNoObject = issue === undefined || issue.path.length === 0;
  const why = isNoObject ? 'must be an object' : `${issue.path.join('.')}: ${issue.message}`;
  throw new ConnectionError(`kubeconfig ${file}: ${why}`);
}

function merge(merged: Merged, file: string, content: z.infer<typeof KUBECONFIG>): void {
  merged.files.push(file);
  merged.currentContext ??= nonEmpty(content['current-context']);
  for (const { name, cluster } of content.clusters ?? [])
    if (!merged.clusters.has(name)) merged.clusters.set(name, { value: cluster ?? {}, file });
  for (const { name, user } of content.users ?? [])
    if (!merged.users.has(name)) merged.users.set(name, { value: user ?? {}, file });
  for (const { name, context } of content.contexts ?? [])
    if (!merged.contexts.has(name)) merged.contexts.set(name, { value: context ?? {}, file });
}

function resolveContext(merged: Merged, wanted: string | null): KubeconfigAccess {
  const files = merged.files.join(', ');
  const name = wanted ?? merged.currentContext;
  if (name === null) throw new ConnectionError(`kubeconfig ${files}: no current-context is set`);
  const context = merged.contexts.get(name);
  if (context === undefined)
    throw new ConnectionError(
      `kubeconfig ${files}: context "${name}" does not exist. Available contexts: ${listNames(merged.contexts)}`,
    );
  const place = `kubeconfig ${context.file}: context "${name}"`;
  const cluster = merged.clusters.get(context.value.cluster ?? '');
  if (cluster === undefined)
    throw new ConnectionError(
      `${place} refers to cluster "${context.value.cluster ?? ''}", which does not exist`,
    );
  const userName = nonEmpty(context.value.user);
  const user = userName === null ? null : merged.users.get(userName);
  if (user === undefined)
    throw new ConnectionError(`${place} refers to user "${userName ?? ''}", which does not exist`);
  return {
    context: name,
    namespace: nonEmpty(context.value.namespace),
    files: merged.files,
    ...readCluster(cluster, context.value.cluster ?? ''),
    ...(user === null ? ANONYMOUS : readUser(user, userName ?? '')),
  };
}

function readCluster(
  { value, file }: Entry<z.infer<typeof CLUSTER>>,
  name: string,
): Pick<
  KubeconfigAccess,
  'server' | 'ca' | 'insecureSkipVerify' | 'serverName' | 'proxyUrl' | 'execExtension'
> {
  const place = `kubeconfig ${file}: cluster "${name}"`;
  const server = nonEmpty(value.server);
  if (server === null) throw new ConnectionError(`${place} has no server`);
  const proxyUrl = nonEmpty(value['proxy-url']);
  // The message does not quote the URL, because it may contain a password.
  if (proxyUrl !== null && !/^(https?|socks5h?):\/\//.test(URL.canParse(proxyUrl) ? proxyUrl : ''))
    throw new ConnectionError(`${place}: proxy-url must be a URL with http://, https:// or socks5://`);
  const insecureSkipVerify = value['insecure-skip-tls-verify'] ?? false;
  const ca = readPem(file, `${place}: certificate-authority`, {
    data: value['certificate-authority-data'],
    path: value['certificate-authority'],
  });
  if (insecureSkipVerify && ca !== null)
    throw new ConnectionError(
      `${place} has both certificate-authority and insecure-skip-tls-verify. Remove one of the two fields`,
    );
  const execExtension = value.extensions?.find((one) => one.name === EXEC_EXTENSION)?.extension ?? null;
  const serverName = nonEmpty(value['tls-server-name']);
  return { server, ca, insecureSkipVerify, serverName, proxyUrl, execExtension };
}

type UserAccess = Pick<
  KubeconfigAccess,
  'certificate' | 'key' | 'token' | 'tokenFile' | 'basic' | 'exec' | 'impersonation'
>;

const ANONYMOUS: UserAccess = {
  certificate: null,
  key: null,
  token: null,
  tokenFile: null,
  basic: null,
  exec: null,
  impersonation: {},
};

function readUser({ value, file }: Entry<z.infer<typeof USER>>, name: string): UserAccess {
  const place = `kubeconfig ${file}: user "${name}"`;
  const impersonation = impersonationHeaders(value);
  if (typeof impersonation === 'string') throw new ConnectionError(`${place}: ${impersonation}`);
  const tokenFile = pathIn(file, value.tokenFile);
  const token = tokenFile === null ? nonEmpty(value.token) : null;
  const certificate = readPem(file, `${place}: client-certificate`, {
    data: value['client-certificate-data'],
    path: value['client-certificate'],
  });
  const key = readPem(file, `${place}: client-key`, {
    data: value['client-key-data'],
    path: value['client-key'],
  });
  if ((certificate === null) !== (key === null))
    throw new ConnectionError(`${place} must have both client-certificate and client-key`);
  const username = nonEmpty(value.username);
  const basic = username === null ? null : { username, password: value.password ?? '' };
  const written = { certificate, key, token, tokenFile, basic };
  if (Object.values(written).some((one) => one !== null)) return { ...written, impersonation, exec: null };
  const provider = value['auth-provider']?.name ?? null;
  if (provider !== null && (value.exec ?? null) === null)
    throw new ConnectionError(
      `${place} gets its credentials from the plugin "${provider}", but this plugin is not supported: ${INSTEAD_OF_PLUGIN}`,
    );
  const exec = value.exec === null || value.exec === undefined ? null : readExec(value.exec, file);
  if (typeof exec === 'string') throw new ConnectionError(`${place}: ${exec}`);
  return { ...written, impersonation, exec };
}

function readPem(
  file: string,
  place: string,
  value: { readonly data: string | null | undefined; readonly path: string | null | undefined },
): Pem | null {
  const data = nonEmpty(value.data);
  if (data === null) {
    const path = pathIn(file, value.path);
    return path === null ? null : { path };
  }
  const pem = Buffer.from(data, 'base64').toString('utf8');
  if (!pem.includes('-----BEGIN')) throw new ConnectionError(`${place}-data is not base64-encoded PEM`);
  return { text: pem };
}

/** A path in a kubeconfig is relative to the directory of its file. */
function pathIn(file: string, path: string | null | undefined): string | null {
  return path === undefined || path === null || path === '' ? null : resolve(dirname(file), path);
}

function nonEmpty(value: string | null | undefined): string | null {
  return value === undefined || value === null || value === '' ? null : value;
}

function listNames(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? 'none' : [...entries.keys()].map((name) => `"${name}"`).join(', ');
}
