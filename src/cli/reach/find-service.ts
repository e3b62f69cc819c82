import { resolve } from 'node:path';
import { readNamedFile } from '../input/read-files.js';
import { type Connection, connectTo, findConnection } from '../../kubernetes/access/connection.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { countIn, type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { createTransport, type Transport } from '../../kubernetes/requests/transport.js';
import { TOKEN_HEADER } from '../../server/access/access-control.js';
import { SILENT_LOG } from '../../units/log.js';
import { type connectionSettings, connectionAccess } from './cluster-options.js';
import { CommandError, type CommandIo, usageError } from '../output/io.js';
import { VERSION } from '../output/version.js';

export interface ReachOptions {
  /** URL of the service. Unset: the service is reached through the service proxy of the API server. */
  readonly url?: string;
  /** Namespace of the Service. Unset: all namespaces are searched. */
  readonly serviceNamespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Connection settings that replace `kubeconfig` and `context`. */
  readonly cluster?: ReturnType<typeof connectionSettings>;
  /** File with a bearer token for the service. Unset: PROMSCALER_TOKEN contains the token, if there is one. */
  readonly tokenFile?: string;
}

export interface ReachedService {
  readonly transport: Transport;
  readonly connection: Connection;
  /** Headers with the token for the service; empty: there is no token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Prefix of the path in the service proxy; empty: the service is reached by its URL. */
  readonly prefix: string;
  /** Where the service is, for messages: `http://localhost:8080` or `service monitoring/promscaler`. */
  readonly where: string;
  /** Namespace of the Service behind the proxy; null: the service is reached by its URL. */
  readonly proxyNamespace: string | null;
}

export const ANSWER_DEADLINE_MS = 15_000;

/** Connects to `url`, or finds the Service in the cluster. Throws `CommandError`. */
export async function reachService(options: ReachOptions, io: CommandIo): Promise<ReachedService> {
  const { clock } = io;
  const connection = await connect(options, io);
  const headers = await serviceHeaders(options, io);
  const transport = createTransport({ connection, clock, headers, userAgent: `promscaler/${VERSION}` });
  const reached = { transport, connection, headers };
  if (options.url !== undefined)
    return { ...reached, prefix: '', where: connection.url, proxyNamespace: null };
  try {
    const { namespace, name, port } = await findService(transport, {
      namespace: options.serviceNamespace ?? null,
      signal: io.signal,
    });
    const prefix = `/api/v1/namespaces/${namespace}/services/http:${name}:${port}/proxy`;
    return { ...reached, prefix, where: `service ${namespace}/${name}`, proxyNamespace: namespace };
  } catch (error) {
    transport.close();
    throw error;
  }
}

async function connect(options: ReachOptions, io: CommandIo): Promise<Connection> {
  const { url } = options;
  try {
    if (url !== undefined) return connectTo(url);
    return await findCluster(options, io);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    if (url !== undefined) throw usageError(`--url ${url}: ${error.message}`);
    throw new CommandError(
      `${error.message}. To connect to the service directly, use --url, e.g. http://localhost:8080`,
    );
  }
}

/** Finds a connection with the permissions of the user. Throws `ConnectionError` if there is none. */
function findCluster(
  { kubeconfig, context, cluster }: Pick<ReachOptions, 'kubeconfig' | 'context' | 'cluster'>,
  io: CommandIo,
): Promise<Connection> {
  return findConnection({
    settings: cluster ?? { kubeconfig, context },
    prefersKubeconfig: true,
    log: { ...SILENT_LOG, warn: (message) => io.stderr.write(`promscaler: ${message}\n`) },
    ...connectionAccess(io),
  });
}

/** Like `findCluster`, but throws `CommandError` if there is no connection. */
export async function connectToCluster(
  options: Pick<ReachOptions, 'kubeconfig' | 'context'>,
  io: CommandIo,
): Promise<Connection> {
  try {
    return await findCluster(options, io);
  } catch (error) {
    throw error instanceof ConnectionError ? new CommandError(error.message) : error;
  }
}

interface FoundService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Label that the chart sets on its Service. */
const SERVICE_LABEL = 'app.kubernetes.io/name=promscaler';
const STANDARD_PORT = 8080;

/** Finds the Service by its label. Throws `CommandError` if there is none or more than one. */
async function findService(
  transport: Transport,
  { namespace, signal }: { readonly namespace: string | null; readonly signal: AbortSignal },
): Promise<FoundService> {
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const where = namespace === null ? 'any namespace' : `namespace ${namespace}`;
  let list: JsonObject;
  try {
    list = await transport.request({
      lane: 'list',
      path: `/api/v1${scope}/services`,
      query: { labelSelector: SERVICE_LABEL },
      doing: `listing the Services of promscaler in ${where}`,
      verb: 'list',
      resource: 'services',
      deadlineMs: ANSWER_DEADLINE_MS,
      signal,
    });
  } catch (error) {
    throw toListError(error, namespace);
  }
  const found = objectsIn(list, 'items').flatMap(readService);
  const [only] = found;
  if (only === undefined)
    throw new CommandError(
      `no Service with the label ${SERVICE_LABEL} in ${where}. Check that promscaler is installed in this cluster, or use --url`,
    );
  if (found.length === 1) return only;
  const names = found.map((one) => `${one.namespace}/${one.name}`).join(', ');
  throw new CommandError(
    `${found.length} Services have the label ${SERVICE_LABEL}: ${names}. ${
      new Set(found.map((one) => one.namespace)).size > 1
        ? 'Select one with --service-namespace'
        : 'Select one with --url'
    }`,
  );
}

function readService(object: JsonObject): readonly FoundService[] {
  const metadata = objectIn(object, 'metadata');
  const name = textIn(metadata, 'name');
  const namespace = textIn(metadata, 'namespace');
  if (name === null || namespace === null) return [];
  const ports = objectsIn(objectIn(object, 'spec'), 'ports');
  const port = ports.find((one) => textIn(one, 'name') === 'http') ?? ports[0] ?? null;
  return [{ name, namespace, port: countIn(port, 'port') ?? STANDARD_PORT }];
}

function toListError(error: unknown, namespace: string | null): unknown {
  if (!(error instanceof KubernetesError)) return error;
  if (error.kind !== 'forbidden') return new CommandError(error.message);
  const fix = namespace === null ? 'Use --service-namespace to search one namespace, or --url' : 'Use --url';
  return new CommandError(
    `${error.message}: permission denied: cannot list services. ${fix}, which does not need this permission`,
  );
}

const MOST_BYTES = 64 * 1024;
const VARIABLE = 'PROMSCALER_TOKEN';

/** Returns the header with the token for a service with `server.auth`; empty: there is no token. */
async function serviceHeaders(
  { tokenFile }: { readonly tokenFile?: string | undefined },
  io: Pick<CommandIo, 'env' | 'cwd' | 'signal'>,
): Promise<Readonly<Record<string, string>>> {
  const token = tokenFile === undefined ? (io.env[VARIABLE] ?? '').trim() : await readToken(tokenFile, io);
  if (token === '') return {};
  const origin = tokenFile === undefined ? VARIABLE : `--token-file ${tokenFile}`;
  if (!/^[\w.~+/=-]+$/.test(token))
    throw usageError(`${origin} is not a bearer token: it contains characters that a token cannot contain`);
  return { [TOKEN_HEADER]: `Bearer ${token}` };
}

async function readToken(file: string, { cwd, signal }: Pick<CommandIo, 'cwd' | 'signal'>): Promise<string> {
  const doing = `reading --token-file ${file}`;
  const bounds = { mostBytes: MOST_BYTES, pipe: { signal } };
  const text = (await readNamedFile(doing, resolve(cwd, file), bounds)).trim();
  if (text === '') throw new CommandError(`${doing}: the file is empty`);
  return text;
}
