import { connectTo, findConnection } from '../../kubernetes/access/connection.js';
import type { Connection } from '../../kubernetes/access/connection.js';
import { type JsonObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/json.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { homeFolder } from '../home-folder.js';
import type { CommandIo } from '../io.js';
import { CommandError } from '../io.js';
import { pluginRunner } from '../running/run-plugin.js';
import { VERSION } from '../version.js';

/** How the command line says where the service runs. */
export interface ReachOptions {
  /** Its own address; left out: through the API server's service proxy. */
  readonly url?: string;
  /** Where to look for the Service; left out: in all namespaces. */
  readonly serviceNamespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A way to a running service. */
export interface ReachedService {
  readonly transport: Transport;
  /** Put before `/api/v1/scalers`; empty for an address of its own. */
  readonly prefix: string;
  /** What messages call it: `http://localhost:8080`, `service monitoring/promscaler`. */
  readonly where: string;
  /** The namespace of the Service; null where no proxy stands between. */
  readonly proxyNamespace: string | null;
}

/** Milliseconds until an answer must be whole. */
export const ANSWER_DEADLINE_MS = 15_000;

/** Finds the service; asks the API server where no `url` is given. Throws `CommandError` with a sentence. */
export async function reachService(options: ReachOptions, io: CommandIo): Promise<ReachedService> {
  const { clock } = io;
  const connection = await findWay(options, io);
  const transport = createTransport({ connection, clock, userAgent: `promscaler/${VERSION}` });
  if (options.url !== undefined)
    return { transport, prefix: '', where: connection.url, proxyNamespace: null };
  try {
    const { namespace, name, port } = await findService(transport, {
      namespace: options.serviceNamespace ?? null,
      signal: io.signal,
    });
    const prefix = `/api/v1/namespaces/${namespace}/services/http:${name}:${port}/proxy`;
    return { transport, prefix, where: `service ${namespace}/${name}`, proxyNamespace: namespace };
  } catch (error) {
    transport.close();
    throw error;
  }
}

async function findWay(options: ReachOptions, io: CommandIo): Promise<Connection> {
  const { url } = options;
  try {
    if (url !== undefined) return connectTo(url);
    return await findCluster(options, io);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    if (url !== undefined) throw new CommandError(`--url ${url}: ${error.message}`, 2);
    throw new CommandError(`${error.message}. --url names the service itself, e.g. http://localhost:8080`);
  }
}

/** The way to the API server with the rights of the user. Throws `ConnectionError` where there is none. */
export function findCluster(
  { kubeconfig, context }: Pick<ReachOptions, 'kubeconfig' | 'context'>,
  io: CommandIo,
): Promise<Connection> {
  return findConnection({
    settings: { kubeconfig, context },
    env: io.env,
    home: homeFolder(io),
    clock: io.clock,
    log: { ...SILENT_LOG, warn: (message) => io.stderr.write(`promscaler: ${message}\n`) },
    runPlugin: pluginRunner(io),
  });
}

interface FoundService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The label that the chart gives its Service. */
const SERVICE_LABEL = 'app.kubernetes.io/name=promscaler';
const STANDARD_PORT = 8080;

/** The only Service with promscaler's label; none or several are a sentence each. */
async function findService(
  transport: Transport,
  { namespace, signal }: { readonly namespace: string | null; readonly signal: AbortSignal },
): Promise<FoundService> {
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const place = namespace === null ? 'any namespace' : `namespace ${namespace}`;
  let list: JsonObject;
  try {
    list = await transport.request({
      lane: 'list',
      method: 'GET',
      path: `/api/v1${scope}/services`,
      query: { labelSelector: SERVICE_LABEL },
      doing: `looking for the service of promscaler in ${place}`,
      verb: 'list',
      resource: 'services',
      deadlineMs: ANSWER_DEADLINE_MS,
      signal,
    });
  } catch (error) {
    throw whyNotListed(error, namespace);
  }
  const found = objectsIn(list, 'items').flatMap(readService);
  const [only] = found;
  if (only === undefined)
    throw new CommandError(
      `no Service in ${place} has the label ${SERVICE_LABEL}: is promscaler installed in this cluster? --url names it where it runs elsewhere`,
    );
  if (found.length === 1) return only;
  const names = found.map((one) => `${one.namespace}/${one.name}`).join(', ');
  throw new CommandError(
    `${found.length} Services have the label ${SERVICE_LABEL}: ${names}. ${
      new Set(found.map((one) => one.namespace)).size > 1
        ? '--service-namespace says which'
        : '--url names the one that is meant'
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

function whyNotListed(error: unknown, namespace: string | null): unknown {
  if (!(error instanceof KubernetesError)) return error;
  if (error.kind !== 'forbidden') return new CommandError(error.message);
  const needed = `the permission to list services is missing`;
  const other = namespace === null ? '; --service-namespace asks in one namespace alone' : '';
  return new CommandError(`${error.message}: ${needed}${other}; --url needs none`);
}
