import { type JsonObject, asObject, textIn, objectsIn } from '../../kubernetes/json.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { ANSWER_DEADLINE_MS, reachService } from './find-service.js';
import type { ReachOptions, ReachedService } from './find-service.js';
import { nearestKeys } from '../nearest-keys.js';
import { workloadHint } from '../scaler-name.js';
import type { CommandIo } from '../io.js';
import { CommandError } from '../io.js';
import { LIST_PAGE, isMissing, NO_SUCH_PAGE, readOneCycle, readPast } from './service-pages.js';
import type { Get, PastScaler, ReadScaler, ScalerName } from './service-pages.js';
import type { Instant } from '../../units/time.js';

/** The read-only API of a running service. Whatever fails is a `CommandError` with a sentence. */
export interface ServiceClient {
  /** What messages call the service. */
  readonly where: string;
  /** All scalers, or those of one namespace; every page is followed. Behind a proxy the replica that leads is looked for. */
  readonly listScalers: (namespace: string | null) => Promise<ScalerList>;
  /** The last decision of a scaler and the snapshot it was made on. */
  readonly readScaler: (key: ScalerName) => Promise<ReadScaler>;
  /** The decision in force at an instant; null where the service is too old to know. */
  readonly readPast: (key: ScalerName, at: Instant) => Promise<PastScaler | null>;
  readonly close: () => void;
}

export interface ScalerList {
  readonly rows: readonly ScalerRow[];
  /** Whether the replica that answered decides; null: it is too old to tell. */
  readonly leader: boolean | null;
  /** Of the service; null: it is too old to tell. */
  readonly version: string | null;
  /** What is wrong with documents, as it came; empty also where it is too old to tell. */
  readonly problems: readonly JsonObject[];
}

/** A row of the list as it came, and what it is called. */
export interface ScalerRow extends ScalerName {
  readonly view: JsonObject;
}

/** A client of the service that the options name. */
export async function createServiceClient(options: ReachOptions, io: CommandIo): Promise<ServiceClient> {
  const service = await reachService(options, io);
  const get: Get = (page, query = {}) =>
    service.transport.request({
      lane: 'list',
      method: 'GET',
      path: `${service.prefix}${page}`,
      ...(Object.keys(query).length === 0 ? {} : { query }),
      doing: `asking ${service.where} for ${page}`,
      verb: 'get',
      resource: 'services/proxy',
      deadlineMs: ANSWER_DEADLINE_MS,
      signal: io.signal,
    });
  // The proxy picks any replica for each request; without one, asking again meets the same.
  const mostTries = service.proxyNamespace === null ? 1 : MOST_REPLICA_TRIES;
  const listScalers: ServiceClient['listScalers'] = async (namespace) => {
    for (let tries = 1; ; tries += 1) {
      const list = await listAll(service, get, namespace);
      if (list.leader !== false || tries >= mostTries) return list;
    }
  };
  // What one replica has nothing on, another one may have.
  const getOfAny: Get = async (page, query) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await get(page, query);
      } catch (error) {
        if (!isMissing(error) || tries >= mostTries) throw error;
      }
    }
  };
  const orWhyNot = async <T>(name: ScalerName, reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      if (!isMissing(error)) throw explained(service, error);
      const { rows } = await listScalers(null);
      throw whyNothing(name, { service, rows });
    }
  };
  return {
    where: service.where,
    listScalers,
    readScaler: (name) => orWhyNot(name, readOneCycle(getOfAny, name)),
    readPast: (name, at) => orWhyNot(name, readPast(getOfAny, name, at)),
    close: service.transport.close,
  };
}

/** Replicas are few; one in two leads, or one in three. */
const MOST_REPLICA_TRIES = 5;
/** Of 500 scalers each: more than one service can carry. */
const MAX_PAGES = 1000;

async function listAll(service: ReachedService, get: Get, namespace: string | null): Promise<ScalerList> {
  const rows: ScalerRow[] = [];
  let behind: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query: Record<string, string> = {
      ...(namespace === null ? {} : { namespace }),
      ...(behind === null ? {} : { continue: behind }),
    };
    let page: JsonObject;
    try {
      page = await get(LIST_PAGE, query);
    } catch (error) {
      throw explained(service, error);
    }
    rows.push(...readRows(service, page));
    behind = textIn(page, 'continue');
    if (behind !== null) continue;
    const problems = objectsIn(page, 'problems');
    return { rows, leader: flagIn(page, 'leader'), version: textIn(page, 'version'), problems };
  }
  throw new CommandError(`asking ${service.where} for ${LIST_PAGE}: the list has no end`);
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
      `asking ${service.where} for ${LIST_PAGE}: the answer is JSON, but no list of scalers: this is not a promscaler`,
    );
  });
}

function readRow(item: unknown): ScalerRow | null {
  const view = asObject(item);
  const namespace = textIn(view, 'namespace');
  const name = textIn(view, 'name');
  return view === null || namespace === null || name === null ? null : { namespace, name, view };
}

/** Why a scaler's page is empty, found out from the list. */
function whyNothing(
  { namespace, name }: ScalerName,
  { service, rows }: { readonly service: ReachedService; readonly rows: readonly ScalerRow[] },
): CommandError {
  const key = `${namespace}/${name}`;
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
    near.length > 0
      ? `; similar: ${near.join(', ')}`
      : `; it has ${rows.length === 0 ? 'none' : rows.length} in all`;
  return new CommandError(
    `${service.where} has no scaler ${key}, or none of its cycles has ended yet${hint}${workloadHint({ namespace, name })}`,
  );
}

/** The sentence of a failed request, with what it means here. */
function explained({ where, proxyNamespace }: ReachedService, error: unknown): unknown {
  if (!(error instanceof KubernetesError)) return error;
  const meaning = meaningOf(error, proxyNamespace);
  if (error.kind === 'canceled') return new CommandError(`asking ${where}: interrupted`);
  return new CommandError(meaning === '' ? error.message : `${error.message}: ${meaning}`);
}

function meaningOf(error: KubernetesError, proxyNamespace: string | null): string {
  switch (error.kind) {
    case 'connection':
      if (proxyNamespace !== null) return 'the API server does not answer';
      return /ENOTFOUND|EAI_AGAIN/.test(error.message)
        ? 'no host of that name is known here'
        : 'nothing that speaks HTTP listens there';
    case 'bad_answer':
      return 'this is not a promscaler';
    case 'not_found':
      return error.message.includes(NO_SUCH_PAGE)
        ? 'it is an older version than this command'
        : 'this is not a promscaler, or an older version than this command';
    case 'unauthorized':
    case 'forbidden':
      return proxyNamespace === null
        ? 'something before it asks for credentials, which --url does not send'
        : `the permission to get services/proxy in namespace ${proxyNamespace} is missing; --url needs none`;
    case 'server_error':
      return proxyNamespace === null ? '' : 'the service has no pod that answers';
    default:
      return '';
  }
}
