import { dirname, isAbsolute, join } from 'node:path';
import type * as z from 'zod';
import type { SourceConfig, SignInConfig } from '../prometheus/data-source/source-config.js';
import { deepFreeze } from '../scaler/plain-json.js';
import { resolveResourceQueries } from './default-queries.js';
import type { ReceiverConfig } from '../notifications/notification.js';
import { type receiver, type ServiceInput, serviceSchema, serviceSections } from './service-schema.js';
import { DEFAULT_FLAVOR, DEFAULT_WINDOW_SECONDS, source as dataSource } from './source-schema.js';
import { DEFAULT_SCRAPE_INTERVAL_SECONDS, windowOfInterval } from '../units/bounds.js';
import type { TlsFiles } from '../http/tls.js';

/**
 * How to connect to the API server. Null fields have the default: the cluster of the pod, $KUBECONFIG or
 * ~/.kube/config.
 */
interface KubernetesConfig {
  /** The namespaces to watch; empty: all. */
  readonly namespaces: readonly string[];
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly url: string | null;
}

/** The times of leader election. leaseDuration > renewDeadline > 1.2 x retryPeriod, which `checkElection` ensures. */
interface LeaderElectionConfig {
  /** Null: true in a cluster, and false elsewhere. */
  readonly enabled: boolean | null;
  readonly leaseDurationSeconds: number;
  readonly renewDeadlineSeconds: number;
  readonly retryPeriodSeconds: number;
}

export type AuthConfig =
  { readonly kind: 'token'; readonly bearerTokenFile: string } | { readonly kind: 'review' };

export interface RecordConfig {
  readonly path: string;
  readonly which: 'changes' | 'all';
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

export interface RecommendationsConfig {
  readonly days: number;
  /** A cron expression that is valid in `timeZone`. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly spreadMinutes: number;
  readonly cpuPercent: number;
  readonly events: boolean;
}

/**
 * The service config with all defaults. It is frozen. Paths of files are resolved against the directory of the config.
 */
export interface ServiceConfig {
  /** The data sources by name; never empty. */
  readonly prometheus: Readonly<Record<string, SourceConfig>>;
  readonly recoveryHoldMaxSeconds: number;
  readonly kubernetes: KubernetesConfig;
  readonly scalers: {
    readonly paths: readonly string[];
    readonly customResources: boolean;
  };
  readonly server: {
    /** Null: all addresses in a cluster, and 127.0.0.1 elsewhere. */
    readonly host: string | null;
    /** The port; 0: any free one. */
    readonly port: number;
    /** Host names that are accepted in addition to the names in the cluster. */
    readonly allowedHosts: readonly string[];
    readonly dashboard: boolean;
    /** Null: the dashboard groups by no label. */
    readonly groupLabel: string | null;
    /** Null: the dashboard has no links to Grafana. */
    readonly grafanaUrl: string | null;
    /** Null: every client may read everything. */
    readonly auth: AuthConfig | null;
    /** Null: this replica sends no requests to other replicas, and answers none. */
    readonly peerKeyFile: string | null;
  };
  readonly metrics: { readonly detail: 'full' | 'summary' };
  /** Null: true in a cluster, and false elsewhere. */
  readonly state: { readonly enabled: boolean | null };
  readonly leaderElection: LeaderElectionConfig;
  /** Whether the replicas share the scalers. Otherwise one leader decides all scalers. */
  readonly sharding: { readonly enabled: boolean };
  /** The receivers of notifications by name. */
  readonly notifications: Readonly<Record<string, ReceiverConfig>>;
  /** Default fields of `spec`, as the config writes them. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Null: decisions are not recorded. */
  readonly record: RecordConfig | null;
  /** Null: documents are not back-tested. */
  readonly recommendations: RecommendationsConfig | null;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'json' | 'text' };
}

type Source = z.output<typeof dataSource>;
type ResolvePath = (path: string) => string;

/** Sets all defaults. `file` is the path of the config; null: relative paths stay relative. */
export function resolveServiceConfig(input: ServiceInput, file: string | null): ServiceConfig {
  const resolvePath: ResolvePath = (path) =>
    file === null || isAbsolute(path) ? path : join(dirname(file), path);
  const {
    prometheus = { default: dataSource.parse({}) },
    kubernetes = serviceSections.kubernetes.parse({}),
    scalers = serviceSections.scalers.parse({}),
    server = serviceSections.server.parse({}),
    metrics = serviceSections.metrics.parse({}),
    leaderElection = serviceSections.leaderElection.parse({}),
    sharding = serviceSections.sharding.parse({}),
    log = serviceSections.log.parse({}),
    recommendations: { enabled: isRecommending, ...recommendations } = serviceSections.recommendations.parse(
      {},
    ),
    state,
    defaults = {},
    record,
    notifications = {},
    recoveryHoldMaxSeconds,
  } = serviceSchema.parse(input);
  return deepFreeze({
    prometheus: mapValues(prometheus, (source, name) => resolveSource(name, source, resolvePath)),
    recoveryHoldMaxSeconds,
    kubernetes: {
      namespaces: kubernetes.namespaces,
      kubeconfig: kubernetes.kubeconfig === undefined ? null : resolvePath(kubernetes.kubeconfig),
      context: kubernetes.context ?? null,
      url: kubernetes.url ?? null,
    },
    scalers: { ...scalers, paths: scalers.paths.map(resolvePath) },
    server: {
      ...server,
      host: server.host ?? null,
      groupLabel: server.groupLabel ?? null,
      grafanaUrl: server.grafanaUrl ?? null,
      auth: resolveAuth(server.auth, resolvePath),
      peerKeyFile: server.peerKeyFile === undefined ? null : resolvePath(server.peerKeyFile),
    },
    metrics,
    state: { enabled: state?.enabled ?? null },
    leaderElection: { ...leaderElection, enabled: leaderElection.enabled ?? null },
    sharding,
    notifications: mapValues(notifications, (receiver, name) => resolveReceiver(name, receiver, resolvePath)),
    defaults,
    record: record === undefined ? null : { ...record, path: resolvePath(record.path) },
    recommendations: isRecommending ? recommendations : null,
    log,
  });
}

function mapValues<T, R>(
  record: Readonly<Record<string, T>>,
  map: (value: T, name: string) => R,
): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

function resolveAuth(
  input: z.output<typeof serviceSections.server>['auth'],
  resolvePath: ResolvePath,
): AuthConfig | null {
  if (input === undefined) return null;
  const { bearerTokenFile } = input;
  return bearerTokenFile === undefined
    ? { kind: 'review' }
    : { kind: 'token', bearerTokenFile: resolvePath(bearerTokenFile) };
}

function resolveSource(name: string, input: Source, resolvePath: ResolvePath): SourceConfig {
  const { externalUrl, maxSampleAgeSeconds, resourceQueries = {}, resourceWindows } = input;
  const { maxQueriesPerNamespace, maxQuerySecondsPerNamespace } = input;
  const { bearerTokenFile, basicAuth, flavor = DEFAULT_FLAVOR } = input;
  const { urls, timeoutSeconds, maxConcurrentQueries, maxAnswerBytes, maxSeries, headers, namespaces } =
    input;
  return {
    name,
    urls,
    ...(externalUrl === undefined ? {} : { externalUrl }),
    flavor,
    timeoutSeconds,
    maxConcurrentQueries,
    ...(maxQueriesPerNamespace === undefined ? {} : { maxQueriesPerNamespace }),
    ...(maxQuerySecondsPerNamespace === undefined ? {} : { maxQuerySecondsPerNamespace }),
    maxAnswerBytes,
    maxSeries,
    scrapeIntervalSeconds: input.scrapeIntervalSeconds ?? DEFAULT_SCRAPE_INTERVAL_SECONDS,
    ...(maxSampleAgeSeconds === undefined ? {} : { maxSampleAgeSeconds }),
    headers,
    bearerTokenFile: bearerTokenFile === undefined ? null : resolvePath(bearerTokenFile),
    basicAuth:
      basicAuth === undefined ? null : { ...basicAuth, passwordFile: resolvePath(basicAuth.passwordFile) },
    signIn: resolveSignIn(input, resolvePath),
    tls: resolveTls(input.tls, resolvePath),
    ...resolveWindow(input),
    ...resolveResourceQueries(resourceQueries, flavor),
    ifVictoriaMetrics:
      input.flavor === undefined
        ? { flavor: 'victoriametrics', ...resolveResourceQueries(resourceQueries, 'victoriametrics') }
        : null,
    ...(resourceWindows === undefined ? {} : { resourceWindows: secondsByName(resourceWindows) }),
    namespaces,
  };
}

/**
 * Returns the window of resource metrics. If no window is set, it is four configured (or default) scrape intervals
 * until the scrape interval has been measured.
 */
function resolveWindow({
  resourceWindowSeconds,
  scrapeIntervalSeconds,
}: Source): Pick<SourceConfig, 'resourceWindowSeconds' | 'learnedIntervalSeconds'> {
  if (resourceWindowSeconds !== undefined) return { resourceWindowSeconds };
  return {
    resourceWindowSeconds:
      scrapeIntervalSeconds === undefined ? DEFAULT_WINDOW_SECONDS : windowOfInterval(scrapeIntervalSeconds),
    learnedIntervalSeconds: null,
  };
}

function secondsByName(windows: NonNullable<Source['resourceWindows']>): Readonly<Record<string, number>> {
  const { cpu, memory } = windows;
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

function resolveReceiver(
  name: string,
  input: z.output<typeof receiver>,
  resolvePath: ResolvePath,
): ReceiverConfig {
  const file = (path: string | undefined): string | null => (path === undefined ? null : resolvePath(path));
  return {
    ...input,
    name,
    url: input.url ?? null,
    urlFile: file(input.urlFile),
    bearerTokenFile: file(input.bearerTokenFile),
    tls: resolveTls(input.tls, resolvePath),
  };
}

/** Returns the settings of the authentication method; null: there is none. service-rules.ts allows at most one. */
function resolveSignIn(
  { oauth2, sigv4, azure, google }: Source,
  resolvePath: ResolvePath,
): SignInConfig | null {
  if (oauth2 !== undefined)
    return {
      way: 'oauth2',
      ...oauth2,
      clientSecretFile: resolvePath(oauth2.clientSecretFile),
      tls: resolveTls(oauth2.tls, resolvePath),
    };
  if (sigv4 !== undefined) {
    const { region, service, roleArn = null, profile = null, credentialsFile } = sigv4;
    const file = credentialsFile === undefined ? null : resolvePath(credentialsFile);
    return { way: 'sigv4', region, service, roleArn, profile, credentialsFile: file };
  }
  if (azure !== undefined) {
    const { clientId = null, tenantId = null, cloud } = azure;
    return { way: 'azure', clientId, tenantId, cloud };
  }
  return google === undefined ? null : { way: 'google' };
}

function resolveTls(input: Source['tls'], resolvePath: ResolvePath): TlsFiles | null {
  if (input === undefined) return null;
  const file = (path: string | undefined): string | null => (path === undefined ? null : resolvePath(path));
  return {
    caFile: file(input.caFile),
    certFile: file(input.certFile),
    keyFile: file(input.keyFile),
    serverName: input.serverName ?? null,
    insecureSkipVerify: input.insecureSkipVerify,
  };
}
