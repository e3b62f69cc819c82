import { type JsonObject, asObject, listIn, textIn, objectsIn } from '../../kubernetes/api/json.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { ANSWER_DEADLINE_MS, reachService } from './find-service.js';
import type { ReachOptions, ReachedService } from './find-service.js';
import { nearestKeys } from '../input/nearest-keys.js';
import { workloadHint } from './scaler-name.js';
import { countOf } from '../../units/count-of.js';
import type { CommandIo } from '../process/io.js';
import { CommandError } from '../process/io.js';
import { LIST_PAGE, isMissing, NO_SUCH_PAGE, readOneCycle, readPast } from './service-pages.js';
import type { Get, PastScaler, ReadScaler, ScalerName } from './service-pages.js';
import type { Instant } from '../../units/time.js';

export interface ServiceClient {
  readonly where: string;
  /** Reads all pages. Null: all namespaces. Behind a proxy, retries until it reaches the leader. */
  readonly listScalers: (namespace: string | null) => Promise<ScalerList>;
  /** Returns `dataSources` of `/api/v1/service`, not validated; null: the service does not report them. */
  readonly readDataSources: () => Promise<readonly JsonObject[] | null>;
  readonly readScaler: (key: ScalerName) => Promise<ReadScaler>;
  /** Returns the error for a scaler that the service does not know or has not decided on, with similar names. */
  readonly explainMissing: (key: ScalerName) => Promise<CommandError>;
  /** Reads the decision in effect at an instant; null if the service does not support that. */
  readonly readPast: (key: ScalerName, at: Instant) => Promise<PastScaler | null>;
  readonly close: () => void;
}

export interface ScalerList {
  readonly rows: readonly ScalerRow[];
  /** Whether the leader responded; null: an old version, which does not report it. */
  readonly leader: boolean | null;
  /** Number of replicas that did not answer, with sharding. Their scalers are missing. */
  readonly unreachable: number;
  /** Version of the service; null: an old version, which does not report it. */
  readonly version: string | null;
  /** Problems of documents; always empty for an old version. */
  readonly problems: readonly JsonObject[];
}

export interface ScalerRow extends ScalerName {
  /** Item of `GET /api/v1/scalers`, not validated. */
  readonly view: JsonObject;
}

export async function createServiceClient(options: ReachOptions, io: CommandIo): Promise<ServiceClient> {
  const service = await reachService(options, io);
  const get: Get = (page, query = {}) =>
    service.transport.request({
      lane: 'list',
      method: 'GET',
      path: `${service.prefix}${page}`,
      ...(Object.keys(query).length === 0 ? {} : { query }),
      doing: `reading ${page} from ${service.where}`,
      verb: 'get',
      resource: 'services/proxy',
      deadlineMs: ANSWER_DEADLINE_MS,
      signal: io.signal,
    });
  // The proxy selects a replica for each request. Without a proxy, a retry would reach the same replica.
  const mostTries = service.proxyNamespace === null ? 1 : MOST_REPLICA_TRIES;
  const listScalers: ServiceClient['listScalers'] = async (namespace) => {
    for (let tries = 1; ; tries += 1) {
      const list = await listAll(service, get, namespace);
      if (list.leader !== false || tries >= mostTries) return list;
    }
  };
  // Another replica may decide the scaler.
  const getOfAny: Get = async (page, query) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await get(page, query);
      } catch (error) {
        if (!isMissing(error) || tries >= mostTries) throw error;
      }
    }
  };
  const explain: ServiceClient['explainMissing'] = async (name) =>
    explainMissing(name, { service, ...(await listScalers(null)) });
  const orCommandError = async <T>(name: ScalerName, reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      throw isMissing(error) ? await explain(name) : toCommandError(service, error);
    }
  };
  return {
    where: service.where,
    listScalers,
    readDataSources: async () => {
      try {
        const page = await get('/api/v1/service');
        return Array.isArray(page['dataSources']) ? objectsIn(page, 'dataSources') : null;
      } catch (error) {
        // The list contains the reason why the service does not answer.
        if (error instanceof KubernetesError) return null;
        throw error;
      }
    },
    explainMissing: explain,
    readScaler: (name) => orCommandError(name, readOneCycle(getOfAny, name)),
    readPast: (name, at) => orCommandError(name, readPast(getOfAny, name, at)),
    close: service.transport.close,
  };
}

/** With two or three replicas, one of these requests very likely reaches the leader. */
const MOST_REPLICA_TRIES = 5;
/** Each page has 500 scalers, so the limit exceeds what a service supports. */
const MAX_PAGES = 1000;

async function listAll(service: ReachedService, get: Get, namespace: string | null): Promise<ScalerList> {
  const rows: ScalerRow[] = [];
  let continueToken: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query: Record<string, string> = {
      ...(namespace === null ? {} : { namespace }),
      ...(continueToken === null ? {} : { continue: continueToken }),
    };
    let page: JsonObject;
    try {
      page = await get(LIST_PAGE, query);
    } catch (error) {
      throw toCommandError(service, error);
    }
    rows.push(...readRows(service, page));
    continueToken = textIn(page, 'continue');
    if (continueToken !== null) continue;
    const problems = objectsIn(page, 'problems');
    const unreachable = listIn(page, 'unreachable').length;
    return { rows, leader: flagIn(page, 'leader'), unreachable, version: textIn(page, 'version'), problems };
  }
  throw new CommandError(`reading ${LIST_PAGE} from ${service.where}: more than ${MAX_PAGES} pages`);
}

function flagIn(page: JsonObject, name: string): boolean | null {
  const value = page[name];
  return typeof value === 'boolean' ? value : null;
}

function readRows(service: ReachedService, page: JsonObject): readonly ScalerRow[] {
  const { items } = page;
  const rows = Array.isArray(items) ? items.map(readRow) : [null];
  return rows.map((row) => {
    if (row !== null) return row;
    throw new CommandError(
      `reading ${LIST_PAGE} from ${service.where}: the response is not a list of scalers, so this is not promscaler`,
    );
  });
}

function readRow(item: unknown): ScalerRow | null {
  const view = asObject(item);
  const namespace = textIn(view, 'namespace');
  const name = textIn(view, 'name');
  return view === null || namespace === null || name === null ? null : { namespace, name, view };
}

function explainMissing(
  { namespace, name }: ScalerName,
  { service, rows, problems }: { readonly service: ReachedService } & Pick<ScalerList, 'rows' | 'problems'>,
): CommandError {
  const key = `${namespace}/${name}`;
  const errors = problems.filter(
    (problem) => textIn(problem, 'scaler') === key && textIn(problem, 'severity') === 'error',
  );
  if (errors.length > 0)
    return new CommandError(
      [
        `the document of ${key} is rejected, and no valid version is in effect:`,
        ...errors.map((problem) => `  ${textIn(problem, 'message') ?? ''}`),
      ].join('\n'),
    );
  const row = rows.find((one) => one.namespace === namespace && one.name === name);
  if (row !== undefined) {
    const conditions: unknown = row.view['conditions'];
    const failed = (Array.isArray(conditions) ? conditions : [])
      .map(asObject)
      .find((condition) => textIn(condition, 'status') === 'False' && textIn(condition, 'type') !== 'Held');
    const why =
      failed === undefined
        ? 'its last cycle could not read the target'
        : `${textIn(failed, 'reason') ?? ''}: ${textIn(failed, 'message') ?? ''}`;
    return new CommandError(`${key} has no decision yet: ${why}`);
  }
  const near = nearestKeys(
    key,
    rows.map((one) => `${one.namespace}/${one.name}`),
  );
  const hint =
    near.length > 0 ? `; similar: ${near.join(', ')}` : ` (${countOf(rows.length, 'scaler')} in total)`;
  return new CommandError(
    `${service.where} has no scaler ${key}, or its first cycle has not finished${hint}${workloadHint({ namespace, name })}`,
  );
}

function toCommandError({ where, proxyNamespace }: ReachedService, error: unknown): unknown {
  if (!(error instanceof KubernetesError)) return error;
  const hint = hintFor(error, proxyNamespace);
  if (error.kind === 'canceled') return new CommandError(`reading from ${where}: interrupted`);
  return new CommandError(hint === '' ? error.message : `${error.message}: ${hint}`);
}

function forbiddenHint(proxyNamespace: string | null): string {
  return proxyNamespace === null
    ? 'a proxy requires credentials, which --url does not send'
    : `you may not get services/proxy in namespace ${proxyNamespace}. Use --url, which needs no permission`;
}

function hintFor(error: KubernetesError, proxyNamespace: string | null): string {
  switch (error.kind) {
    case 'connection':
      if (proxyNamespace !== null) return 'the API server does not answer';
      return /ENOTFOUND|EAI_AGAIN/.test(error.message)
        ? 'the host name cannot be resolved'
        : 'no HTTP server listens at this address';
    case 'bad_answer':
      return 'this is not promscaler';
    case 'not_found':
      return error.message.includes(NO_SUCH_PAGE)
        ? 'the service is older than this command'
        : 'this is not promscaler, or its version is older than this command';
    case 'unauthorized':
      if (error.message.includes('bearer token')) return 'use --token-file, or set PROMSCALER_TOKEN';
      return forbiddenHint(proxyNamespace);
    case 'forbidden':
      return forbiddenHint(proxyNamespace);
    case 'server_error':
      return proxyNamespace === null ? '' : 'no pod of the service answers';
    default:
      return '';
  }
}
