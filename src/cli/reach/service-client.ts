import { createApiClient, type ApiClient, type Get, AnswerError } from '../../api/read-answer.js';
import type { ScalerDetail, ScalerList, ScalerView, ServiceStatus } from '../../api/answers.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { ANSWER_DEADLINE_MS, type ReachedService, type ReachOptions, reachService } from './find-service.js';
import { unreadTarget } from '../../decision/failing.js';
import { fixDocument, remediesOf } from '../../decision/remedies.js';
import { remedyLines } from '../explanation/explain-lines.js';
import { keysHint, scalersHint } from '../input/nearest-keys.js';
import { workloadHint } from './scaler-name.js';
import { cleanText } from '../../units/clean-text.js';
import { type CommandIo, CommandError, orCommandError } from '../output/io.js';
import {
  isMissing,
  NO_SUCH_PAGE,
  readOneCycle,
  readPast,
  type PastScaler,
  type ReadScaler,
  type ScalerName,
} from './service-pages.js';
import { VERSION } from '../output/version.js';
import type { Instant } from '../../units/time.js';

export interface ServiceClient {
  readonly where: string;
  /**
   * Reads all pages of the scalers of a namespace; null: of all namespaces. Behind the service proxy, tries again until
   * the leader answers.
   */
  readonly listScalers: (namespace: string | null) => Promise<ListedScalers>;
  /** Null: the service does not report its data sources. */
  readonly readDataSources: () => Promise<ServiceStatus['dataSources'] | null>;
  /** Rejects for a scaler without a decision, for example because its target does not exist. */
  readonly readScaler: (key: ScalerName) => Promise<ReadScaler>;
  /** Reads a scaler without the snapshot of its last decision, which may not exist. */
  readonly readDetail: (key: ScalerName) => Promise<ScalerDetail>;
  /**
   * Returns the error for a scaler that the service does not have, or that has had no decision yet, with similar names.
   */
  readonly explainMissing: (key: ScalerName) => Promise<CommandError>;
  /** Reads the decision that was in effect at an instant. */
  readonly readPast: (key: ScalerName, at: Instant) => Promise<PastScaler>;
  readonly close: () => void;
}

/** All pages of `GET /api/v1/scalers`. */
export interface ListedScalers extends Pick<ScalerList, 'version' | 'leader' | 'problems'> {
  readonly rows: readonly ScalerView[];
  /** With sharding, the number of replicas that did not answer. Their scalers are missing. */
  readonly unreachable: number;
}

async function createServiceClient(options: ReachOptions, io: CommandIo): Promise<ServiceClient> {
  const service = await reachService(options, io);
  const get: Get = (page, query) =>
    service.transport.request({
      lane: 'list',
      path: `${service.prefix}${page}`,
      ...(Object.keys(query).length === 0 ? {} : { query }),
      doing: `reading ${page} from ${service.where}`,
      verb: 'get',
      resource: 'services/proxy',
      deadlineMs: ANSWER_DEADLINE_MS,
      signal: io.signal,
    });
  const anyReplica = createApiClient(get);
  // Another try helps only with the service proxy, which selects a replica for each request.
  const mostTries = service.proxyNamespace === null ? 1 : MOST_REPLICA_TRIES;
  const listScalers: ServiceClient['listScalers'] = async (namespace) => {
    for (let tries = 1; ; tries += 1) {
      const list = await listAll(service, anyReplica, namespace);
      if (list.leader || tries >= mostTries) return list;
    }
  };
  // Tries again if the scaler is missing, because another replica may have it.
  const eachReplica = createApiClient(async (page, query) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await get(page, query);
      } catch (error) {
        if (!isMissing(error) || tries >= mostTries) throw error;
      }
    }
  });
  const showScaler = ({ namespace, name }: ScalerName): Promise<ScalerDetail> =>
    eachReplica('showScaler', { namespace, name });
  const explain: ServiceClient['explainMissing'] = async (name) => {
    const { rows, problems } = await listScalers(null);
    const row = rows.find((one) => one.namespace === name.namespace && one.name === name.name);
    if (row === undefined) return explainMissing(name, { service, rows, problems });
    return explainUndecided(await showScaler(name));
  };
  const explained = async <T>(name: ScalerName, reading: Promise<T>): Promise<T> => {
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
        return (await anyReplica('showService', {})).dataSources;
      } catch (error) {
        // The error is ignored, because the list of the scalers reports why the service does not answer.
        if (error instanceof KubernetesError || error instanceof AnswerError) return null;
        throw error;
      }
    },
    explainMissing: explain,
    readScaler: (name) => explained(name, readOneCycle(eachReplica, name)),
    readDetail: (name) => explained(name, showScaler(name)),
    readPast: (name, at) => explained(name, readPast(eachReplica, name, at)),
    close: service.transport.close,
  };
}

/** Calls `use` with a client for the service, which is closed afterwards. Throws `CommandError`. */
export async function withService<T>(
  options: ReachOptions,
  io: CommandIo,
  use: (client: ServiceClient) => Promise<T>,
): Promise<T> {
  const client = await createServiceClient(options, io);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** Does the same as `withService`, but returns the `CommandError` instead of throwing it. */
export function tryService<T>(
  options: ReachOptions,
  io: CommandIo,
  use: (client: ServiceClient) => Promise<T>,
): Promise<T | CommandError> {
  return orCommandError(() => withService(options, io, use));
}

/** Maximum number of tries. With two or three replicas, the leader very likely answers at least one try. */
const MOST_REPLICA_TRIES = 5;
/** Limits the pages. A page has 500 scalers, so the limit is above what a service supports. */
const MAX_PAGES = 1000;

async function listAll(
  service: ReachedService,
  api: ApiClient,
  namespace: string | null,
): Promise<ListedScalers> {
  const rows: ScalerView[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    try {
      const list = await api('listScalers', { namespace: namespace ?? undefined, continue: next });
      rows.push(...list.items);
      const { version, leader, problems, unreachable = [] } = list;
      if (list.continue === null) return { rows, version, leader, problems, unreachable: unreachable.length };
      next = list.continue;
    } catch (error) {
      throw toCommandError(service, error);
    }
  }
  throw new CommandError(`listing the scalers of ${service.where}: more than ${MAX_PAGES} pages`);
}

function explainMissing(
  { namespace, name }: ScalerName,
  {
    service,
    rows,
    problems,
  }: { readonly service: ReachedService } & Pick<ListedScalers, 'rows' | 'problems'>,
): CommandError {
  const key = `${namespace}/${name}`;
  const errors = problems.filter(({ scaler, severity }) => scaler === key && severity === 'error');
  if (errors.length > 0)
    return new CommandError(
      [
        `the document of ${key} is rejected, and no valid version is in effect:`,
        ...errors.map((problem) => `  ${placedLine(problem)}`),
        ...remedyLines(fixDocument({ namespace, name, rejections: errors, generation: null })),
      ].join('\n'),
    );
  const keys = rows.map((one) => `${one.namespace}/${one.name}`);
  const ofWorkload = workloadHint({ namespace, name });
  const hint = ofWorkload === '' ? scalersHint(key, keys) : `${keysHint(key, keys)}${ofWorkload}`;
  return new CommandError(
    `${service.where} has no scaler ${key}, or the first cycle of the scaler has not finished${hint}`,
  );
}

function explainUndecided(detail: ScalerDetail): CommandError {
  const { namespace, name, conditions } = detail;
  const failed = unreadTarget(conditions);
  const why =
    failed === undefined ? 'the last cycle could not read the target' : `${failed.reason}: ${failed.message}`;
  return new CommandError(
    [
      `the last cycle of ${namespace}/${name} made no decision: ${why}`,
      ...remedyLines(remediesOf(detail)),
    ].join('\n'),
  );
}

/** Returns for example `web.yaml:4: spec.maxReplicas is ...`. */
export function placedLine({ file, line, message }: ListedScalers['problems'][number]): string {
  return cleanText(`${file ?? 'a document'}${line === null ? '' : `:${line}`}: ${message}`);
}

function toCommandError({ where, proxyNamespace }: ReachedService, error: unknown): unknown {
  if (error instanceof AnswerError) {
    const hint =
      error.version === null
        ? 'the server is not promscaler, or has another version than this command'
        : `the service has version ${error.version}, this command has ${VERSION}`;
    return new CommandError(`reading ${error.page} from ${where}: ${error.message}: ${hint}`);
  }
  if (!(error instanceof KubernetesError)) return error;
  const hint = hintFor(error, proxyNamespace);
  if (error.kind === 'canceled') return new CommandError(`reading from ${where}: interrupted`);
  return new CommandError(hint === '' ? error.message : `${error.message}: ${hint}`);
}

function forbiddenHint(proxyNamespace: string | null): string {
  return proxyNamespace === null
    ? 'a proxy requires credentials, but this command sends none with --url'
    : `permission denied: cannot get services/proxy in namespace ${proxyNamespace}. Use --url, which does not need this permission`;
}

function hintFor(error: KubernetesError, proxyNamespace: string | null): string {
  switch (error.kind) {
    case 'connection':
      if (proxyNamespace !== null) return 'the API server does not answer';
      return /ENOTFOUND|EAI_AGAIN/.test(error.message)
        ? 'the host name cannot be resolved'
        : 'no HTTP server listens at this address';
    case 'bad_answer':
      return 'the server is not promscaler';
    case 'not_found':
      return error.message.includes(NO_SUCH_PAGE)
        ? 'the service is older than this command'
        : 'the server is not promscaler, or has an older version than this command';
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
