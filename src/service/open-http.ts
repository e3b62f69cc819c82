import { fileURLToPath } from 'node:url';
import type { ServiceConfig } from '../config/resolve-service-config.js';
import type { Shards } from '../control/election/leadership.js';
import { decisionToJson, snapshotToJson } from '../decision/result/write-json.js';
import { createSecretFile } from '../http/credentials.js';
import type { Transport } from '../kubernetes/requests/transport.js';
import { createUserReviews } from '../kubernetes/access-review.js';
import { createRangeClient, type RangeClient } from '../prometheus/client/range-client.js';
import type { SourceConfig } from '../prometheus/data-source/source-config.js';
import { formatProblem, type Problem } from '../scaler/problems/problem.js';
import { valueAt } from '../scaler/plain-json.js';
import type { Scaler } from '../scaler/spec.js';
import { type AccessControl, createTokenAccess } from '../server/access/access-control.js';
import { createReviewAccess } from '../server/access/review-access.js';
import { createApp } from '../server/app.js';
import { createEventStreams } from '../server/event-streams.js';
import { readPeerKeys } from '../server/fleet/sealed.js';
import type { ScalerPageParts } from '../server/pages/scaler-pages.js';
import { startServer } from '../server/server.js';
import { readSite } from '../server/site.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Records } from '../telemetry/records.js';
import type { ServiceHealth } from '../telemetry/service-health.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';
import { openLongHistory } from './long-history.js';
import { fleetOf } from './open-shards.js';
import { errorMessage } from '../units/failure.js';

export interface HttpOptions {
  readonly config: ServiceConfig;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the process runs in a pod, where it listens on all addresses by default. */
  readonly isInCluster?: boolean;
  /**
   * Creates the client that reads histories. Default: a client that ignores environment variables, such as
   * AZURE_CLIENT_ID.
   */
  readonly createRangeClient?: ((source: SourceConfig) => RangeClient) | undefined;
  readonly originOf?: ScalerPageParts['originOf'];
}

interface HttpParts {
  readonly records: Records;
  readonly metrics: Metrics;
  readonly health: ServiceHealth;
  readonly shards: Shards;
  readonly waitingFor: () => readonly string[];
  readonly problems: () => readonly Problem[];
  readonly invalid: ScalerPageParts['invalid'];
  readonly scalers: () => readonly Scaler[];
  readonly generationsOf: ScalerPageParts['generationsOf'];
  readonly loadAhead: NonNullable<ScalerPageParts['loadAhead']>;
  readonly queriesOf: NonNullable<ScalerPageParts['queriesOf']>;
  readonly labelOf: (scaler: Scaler, label: string) => string | null;
  readonly transport: Transport;
  readonly apiServerNames: () => readonly string[];
  /** Returns the URL at which other replicas reach the HTTP server of this process; null: unknown. */
  readonly address: () => string | null;
}

interface OpenHttp {
  readonly port: number;
  readonly closeStreams: () => void;
  readonly close: () => Promise<void>;
}

/**
 * The default address outside of a cluster, because other hosts on the network must not see which workloads are scaled.
 */
const LOOPBACK = '127.0.0.1';

/** An event stream is closed after this time, so that the permissions of its client are checked again. */
const STREAM_MS = 300_000;

/** The directory to which the build writes the dashboard. The path is the same from `src` and from `dist`. */
const SITE_DIRECTORY = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));

/**
 * Groups scalers by a label of their documents. The label of a document in a cluster is a label of the Scaler object.
 */
function groupingBy(label: string | null, labelOf: HttpParts['labelOf']): ScalerPageParts['grouping'] {
  if (label === null) return undefined;
  const written = (scaler: Scaler): unknown => valueAt(scaler.document, ['metadata', 'labels', label]);
  return {
    label,
    of: (scaler) => {
      const value = written(scaler);
      return typeof value === 'string' ? value : labelOf(scaler, label);
    },
  };
}

/** Starts to listen and to serve pages. Throws `ListenError` if it cannot listen. */
export async function openHttp(options: HttpOptions, parts: HttpParts): Promise<OpenHttp> {
  const { config, clock, log } = options;
  const { records, metrics, shards } = parts;
  const namespaces = (): readonly string[] => parts.scalers().map(({ namespace }) => namespace);
  const access = openAccess(config.server, { transport: parts.transport, namespaces, clock, log });
  const maxAgeMs = access === null ? undefined : STREAM_MS;
  const { peerKeyFile } = config.server;
  const keyFile = peerKeyFile === null ? null : createSecretFile({ path: peerKeyFile, clock });
  const keys = async (): Promise<readonly Buffer[]> =>
    readPeerKeys((await keyFile?.read().catch(() => null)) ?? null);
  if (config.sharding.enabled && peerKeyFile === null)
    log.warn(
      'replicas cannot query each other: the API of each replica serves only the scalers of that replica',
      {
        set: 'server.peerKeyFile',
      },
    );
  const fleet = fleetOf(shards, { keys, address: parts.address });
  const onError = (error: unknown, path: string): void => log.error('failed to serve page', { path, error });
  const onFault = (error: unknown): void => onError(error, '/api/v1/events of another replica');
  const streams = createEventStreams({ feed: records.feed, clock, maxAgeMs, fleet, onFault });
  let connections = 0;
  const app = createApp({
    healthProblems: shards.healthProblems,
    waitingFor: parts.waitingFor,
    metrics,
    api: {
      ...records,
      streams,
      writeSnapshot: snapshotToJson,
      writeDecision: decisionToJson,
      version: options.version,
      isLeading: shards.isLeading,
      problems: parts.problems,
      invalid: parts.invalid,
      generationsOf: parts.generationsOf,
      originOf: options.originOf,
      loadAhead: parts.loadAhead,
      queriesOf: parts.queriesOf,
      grouping: groupingBy(config.server.groupLabel, parts.labelOf),
      grafanaUrl: config.server.grafanaUrl,
    },
    longHistory: openLongHistory({
      source: config.prometheus['default'] ?? null,
      createClient: options.createRangeClient ?? ((source) => createRangeClient(source, clock)),
      scalers: parts.scalers,
      clock,
      onQuery: (reason) => metrics.countHistoryQuery('default', reason),
    }),
    service: {
      health: parts.health,
      identity: shards.identity,
      leader: shards.leader,
      urlsOf: (source) => [...(config.prometheus[source]?.urls ?? [])],
      periodSeconds: () => shortestPeriod(parts.scalers()),
      excerptOf,
    },
    access,
    site: config.server.dashboard ? await readSite(SITE_DIRECTORY) : null,
    fleet,
    clock,
    hosts: { allowed: config.server.allowedHosts, apiServerNames: parts.apiServerNames },
    connections: () => connections,
    onError,
  });
  const host = config.server.host ?? (options.isInCluster === true ? undefined : LOOPBACK);
  const onConnection = (): void => void (connections += 1);
  const server = await startServer({ app, host, port: config.server.port, clock, onConnection });
  log.info('listening', { url: server.url });
  return { port: server.port, closeStreams: streams.close, close: server.close };
}

/** Returns the source lines of a problem. The first line is omitted, because it repeats file, position and message. */
function excerptOf(problem: Problem): string | null {
  const [, ...lines] = formatProblem(problem).split('\n');
  return lines.length === 0 ? null : lines.join('\n');
}

/** The default of `syncPeriodSeconds` in documents. */
const STANDARD_PERIOD_SECONDS = 15;

function shortestPeriod(scalers: readonly Scaler[]): number {
  const periods = scalers.map(({ spec }) => spec.syncPeriodSeconds);
  return periods.reduce(
    (shortest, period) => Math.min(shortest, period),
    periods[0] ?? STANDARD_PERIOD_SECONDS,
  );
}

interface AccessParts {
  readonly transport: Transport;
  readonly namespaces: () => Iterable<string>;
  readonly clock: Clock;
  readonly log: Log;
}

const LOG_PERIOD_MS = 60_000;

/** Returns the access control of the API; null: everybody may read everything. */
export function openAccess(
  { auth }: ServiceConfig['server'],
  { transport, namespaces, clock, log }: AccessParts,
): AccessControl | null {
  if (auth === null) return null;
  if (auth.kind === 'token') {
    const file = createSecretFile({ path: auth.bearerTokenFile, clock });
    return createTokenAccess(() => file.read().catch(() => null));
  }
  let loggedMs = -Infinity;
  // Logs at most once a minute, because clients retry, and each request would log a line.
  const onError = (error: unknown): void => {
    if (clock.monotonicMs() - loggedMs < LOG_PERIOD_MS) return;
    loggedMs = clock.monotonicMs();
    log.warn('failed to review API client; request rejected', { error: errorMessage(error) });
  };
  return createReviewAccess({ reviews: createUserReviews(transport), clock, namespaces, onError });
}
