import { delimiter, join } from 'node:path';
import type { Clock } from '../../units/clock.js';
import { readBoundedText } from '../../files/read-bounded.js';
import { createSecretFile, type SecretFile } from '../../http/credentials.js';
import { createTlsReader, type TlsMaterial } from '../../http/tls.js';
import { errorFacts } from '../api/json.js';
import {
  createPluginCredentials,
  INSTEAD_OF_PLUGIN,
  type ClusterInfo,
  type PluginCredentials,
  type RunPlugin,
} from './exec-plugin.js';
import {
  type RequestHeaders,
  ConnectionError,
  readKubeconfig,
  type KubeconfigAccess,
  type Pem,
} from './kubeconfig.js';
import type { Log } from '../../units/log.js';
import { withoutTrailingSlashes } from '../../http/http-client.js';

export interface Connection {
  /** The address without a trailing slash: `https://10.0.0.1:443`. */
  readonly url: string;
  /** Where the settings come from, for the log. */
  readonly source: string;
  readonly namespace?: string;
  /** Whether this process is a pod of the cluster and uses its service account. */
  readonly isInCluster?: boolean;
  /** The proxy for all requests. The URL may contain credentials. */
  readonly proxyUrl?: string;
  /** Headers that impersonate a user, for each request. */
  readonly headers?: RequestHeaders;
  /** Returns the Authorization header; null: requests have none. With `fresh`, a token file is read again. */
  readonly authorization: (fresh?: boolean) => Promise<string | null>;
  /** Returns certificates and keys; null: the server uses plain http. Returns the same object until a file changes. */
  readonly tls: () => Promise<TlsMaterial | null>;
}

interface ConnectionOptions {
  readonly settings: {
    readonly kubeconfig?: string | undefined;
    readonly context?: string | undefined;
    readonly url?: string | undefined;
  };
  /** The environment. KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and KUBECONFIG are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
  /**
   * Whether $KUBECONFIG and ~/.kube/config take precedence over the service account of the pod, as in kubectl. Default:
   * false.
   */
  readonly prefersKubeconfig?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** The directory with the token and CA of the service account. Only tests set it. */
  readonly serviceAccountDirectory?: string;
  /** Runs the credential plugin of a kubeconfig. Unset: a kubeconfig user that needs a plugin is an error. */
  readonly runPlugin?: RunPlugin;
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_AGE_MS = 60_000;
const CERTIFICATE_AGE_MS = 300_000;

/**
 * Finds the API server and the credentials. The first of these that is available is used: `kubeconfig` or `context` of
 * the settings, the service account of the pod, $KUBECONFIG, ~/.kube/config. With `prefersKubeconfig`, the service
 * account comes last.
 * `url` replaces the address. If only `url` is set, requests have no credentials, unless this process runs in a pod and
 * the URL is https: then the service account is used. As in kubectl, credentials are never sent over plain http. Throws
 * `ConnectionError`.
 */
export async function findConnection(options: ConnectionOptions): Promise<Connection> {
  const { settings, env } = options;
  const url = settings.url === undefined ? null : checkUrl(settings.url, 'kubernetes.url');
  const usesKubeconfig = settings.kubeconfig !== undefined || settings.context !== undefined;
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  if (!usesKubeconfig && url === null && options.prefersKubeconfig === true) {
    const access = await readKubeconfig(usualKubeconfigs(options), null);
    if (access !== null) return fromKubeconfig(access, null, options);
  }
  if (!usesKubeconfig && host !== '' && url?.startsWith('http:') !== true)
    return serviceAccount(options, url ?? serviceUrl(host, env['KUBERNETES_SERVICE_PORT'] ?? '443'));
  if (!usesKubeconfig && url !== null) return connectTo(url);
  const paths = settings.kubeconfig === undefined ? usualKubeconfigs(options) : [settings.kubeconfig];
  const access = await readKubeconfig(paths, settings.context ?? null);
  if (access !== null) return fromKubeconfig(access, url, options);
  const tried =
    paths.length === 0
      ? 'no kubeconfig is configured'
      : `${paths.join(' and ')} ${paths.length > 1 ? 'do' : 'does'} not exist`;
  const outside = usesKubeconfig
    ? ''
    : ', and KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod';
  throw new ConnectionError(`no connection to the Kubernetes API is configured: ${tried}${outside}`);
}

/** Returns the paths in $KUBECONFIG, otherwise ~/.kube/config. The files need not exist. */
export function usualKubeconfigs({ env, home }: Pick<ConnectionOptions, 'env' | 'home'>): readonly string[] {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return listed;
  return home === null ? [] : [join(home, '.kube', 'config')];
}

/** Returns the namespace of this pod's service account; null: this process is not a pod, or the file cannot be read. */
export function podNamespace({
  env,
  serviceAccountDirectory = SERVICE_ACCOUNT_DIRECTORY,
}: Pick<ConnectionOptions, 'env' | 'serviceAccountDirectory'>): Promise<string | null> {
  const isPod = (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  return isPod ? readNamespace(join(serviceAccountDirectory, 'namespace')) : Promise.resolve(null);
}

/** Returns a connection without credentials, for example to `kubectl proxy` or the simulator. */
export function connectTo(address: string): Connection {
  const url = checkUrl(address, 'url');
  return {
    url,
    source: `${url}, without credentials`,
    authorization: () => Promise.resolve(null),
    tls: () => Promise.resolve(url.startsWith('https:') ? NO_TLS_MATERIAL : null),
  };
}

const NO_TLS_MATERIAL: TlsMaterial = {
  ca: null,
  certificate: null,
  key: null,
  serverName: null,
  verify: true,
};

async function serviceAccount(options: ConnectionOptions, url: string): Promise<Connection> {
  const directory = options.serviceAccountDirectory ?? SERVICE_ACCOUNT_DIRECTORY;
  const token = secretFile(join(directory, 'token'), TOKEN_AGE_MS, options);
  const source = `service account of this pod, ${url}`;
  const namespace = await readNamespace(join(directory, 'namespace'));
  const connection: Connection = {
    url,
    source,
    isInCluster: true,
    ...(namespace === null ? {} : { namespace }),
    authorization: async (fresh) => `Bearer ${await token.read(fresh)}`,
    tls: tlsOf({ ...NO_ACCESS, ca: { path: join(directory, 'ca.crt') } }, options),
  };
  return checked(connection);
}

/** Returns null if the file cannot be read. This is no error, because the namespace may be configured elsewhere. */
async function readNamespace(path: string): Promise<string | null> {
  try {
    const namespace = (await readBoundedText(path, { mostBytes: 1024 })).trim();
    return namespace === '' ? null : namespace;
  } catch {
    return null;
  }
}

const NO_ACCESS = { ca: null, certificate: null, key: null, serverName: null, insecureSkipVerify: false };

function fromKubeconfig(
  access: KubeconfigAccess,
  url: string | null,
  options: ConnectionOptions,
): Promise<Connection> {
  const files = access.files.join(', ');
  const address = url ?? checkUrl(access.server, `kubeconfig ${files}: server`);
  const source = `kubeconfig ${files}, context "${access.context}", ${address}`;
  const { namespace, proxyUrl, impersonation } = access;
  const own = {
    source,
    ...(namespace === null ? {} : { namespace }),
    ...(proxyUrl === null ? {} : { proxyUrl }),
    ...(Object.keys(impersonation).length === 0 ? {} : { headers: impersonation }),
  };
  if (address.startsWith('http:')) return Promise.resolve({ ...connectTo(address), ...own });
  if (access.insecureSkipVerify)
    options.log.warn('the certificate of the Kubernetes API is not verified', { url: address });
  const tls = tlsOf(access, options);
  const plugin = pluginOf(access, { ...options, address, tls });
  const authorization = authorizationOf(access, options);
  if (plugin === null) return checked({ url: address, ...own, authorization, tls });
  return checked({
    url: address,
    ...own,
    authorization: async (fresh) => {
      const { token } = await plugin(fresh);
      return token === null ? null : `Bearer ${token}`;
    },
    tls: withCertificateOf(plugin, tls),
  });
}

type Plugin = (fresh?: boolean) => Promise<PluginCredentials>;

function pluginOf(
  { exec, execExtension, context, files, proxyUrl }: KubeconfigAccess,
  options: ConnectionOptions & { readonly address: string; readonly tls: Connection['tls'] },
): Plugin | null {
  if (exec === null) return null;
  const { runPlugin, clock, address, tls } = options;
  if (runPlugin === undefined)
    throw new ConnectionError(
      `kubeconfig ${files.join(', ')}: context "${context}" gets its credentials from the plugin "${exec.command}", but this command runs no plugins: ${INSTEAD_OF_PLUGIN}`,
    );
  const clusterInfo = async (): Promise<ClusterInfo> => {
    const { ca, serverName, verify } = (await tls()) ?? NO_TLS_MATERIAL;
    return {
      server: address,
      ...(serverName === null ? {} : { 'tls-server-name': serverName }),
      ...(verify ? {} : { 'insecure-skip-tls-verify': true }),
      ...(proxyUrl === null ? {} : { 'proxy-url': proxyUrl }),
      ...(ca === null ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      ...(execExtension === null ? {} : { config: execExtension }),
    };
  };
  return createPluginCredentials({ exec, clusterInfo, runPlugin, clock });
}

/**
 * Returns `tls` with the certificate of the plugin. The result is the same object until the certificate or a file
 * changes.
 */
function withCertificateOf(plugin: Plugin, tls: Connection['tls']): Connection['tls'] {
  let last: { readonly base: TlsMaterial | null; readonly material: TlsMaterial | null } | null = null;
  return async () => {
    const [{ certificate, key }, base] = await Promise.all([plugin(), tls()]);
    if (last !== null && last.base === base && (last.material?.certificate ?? null) === certificate)
      return last.material;
    last = { base, material: base === null || certificate === null ? base : { ...base, certificate, key } };
    return last.material;
  };
}

function authorizationOf(access: KubeconfigAccess, options: ConnectionOptions): Connection['authorization'] {
  const { token, tokenFile, basic } = access;
  if (tokenFile !== null) {
    const file = secretFile(tokenFile, TOKEN_AGE_MS, options);
    return async (fresh) => `Bearer ${await file.read(fresh)}`;
  }
  if (token !== null) return () => Promise.resolve(`Bearer ${token}`);
  if (basic === null) return () => Promise.resolve(null);
  const encoded = Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
  return () => Promise.resolve(`Basic ${encoded}`);
}

function tlsOf(
  access: Pick<KubeconfigAccess, 'ca' | 'certificate' | 'key' | 'serverName' | 'insecureSkipVerify'>,
  options: ConnectionOptions,
): Connection['tls'] {
  const reader = (pem: Pem | null): (() => Promise<string>) | null => {
    if (pem === null) return null;
    if ('text' in pem) return () => Promise.resolve(pem.text);
    return secretFile(pem.path, CERTIFICATE_AGE_MS, options).read;
  };
  const { serverName, insecureSkipVerify } = access;
  return createTlsReader(
    { ca: reader(access.ca), certificate: reader(access.certificate), key: reader(access.key) },
    { serverName, verify: !insecureSkipVerify, what: 'the certificates of the connection to the API server' },
  );
}

function secretFile(path: string, maxAgeMs: number, { clock, log }: ConnectionOptions): SecretFile {
  const onFailure = (error: string): void =>
    log.warn('failed to reload credentials; using the last credentials', { file: path, error });
  return createSecretFile({ path, maxAgeMs, clock, onFailure });
}

/** Reads every file once, so that a missing file is reported at startup. */
async function checked(connection: Connection): Promise<Connection> {
  try {
    await connection.authorization();
    await connection.tls();
  } catch (cause) {
    throw new ConnectionError(`${connection.source}: ${errorFacts(cause).message}`, { cause });
  }
  return connection;
}

function serviceUrl(host: string, port: string): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function checkUrl(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '')
    throw new ConnectionError(`${what} must begin with http:// or https:// and must not contain a user`);
  return withoutTrailingSlashes(`${url.origin}${url.pathname}`);
}
