import { dirname, isAbsolute, join } from 'node:path';
import type { SourceConfig, SignInConfig } from '../prometheus/data-source/source-config.js';
import { deepFreeze } from '../scaler/plain-json.js';
import { resolveResourceQueries } from './default-queries.js';
import { SERVICE_DEFAULTS } from './service-defaults.js';
import type { ReceiverConfig } from '../notifications/notification.js';
import type { ServiceInput, ReceiverInput } from './service-schema.js';
import type { SourceInput } from './source-schema.js';
import { windowOfInterval } from '../units/bounds.js';
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
    /** Host names that are accepted in addition to those in the cluster. */
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
  /** Whether the replicas share the scalers. Otherwise one leader decides all of them. */
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

/** Sets all defaults. `file` is the path of the config; null: relative paths stay relative. */
export function resolveServiceConfig(input: ServiceInput, file: string | null): ServiceConfig {
  const resolvePath = (path: string): string =>
    file === null || isAbsolute(path) ? path : join(dirname(file), path);
  const sources = Object.entries(input.prometheus ?? { default: {} });
  const { kubernetes, scalers, server, leaderElection, log, record } = input;
  return deepFreeze({
    prometheus: Object.fromEntries(
      sources.map(([name, source]) => [name, resolveSource(name, source, resolvePath)]),
    ),
    recoveryHoldMaxSeconds: input.recoveryHoldMaxSeconds ?? SERVICE_DEFAULTS.recoveryHoldMaxSeconds,
    kubernetes: {
      namespaces: kubernetes?.namespaces ?? [],
      kubeconfig: kubernetes?.kubeconfig === undefined ? null : resolvePath(kubernetes.kubeconfig),
      context: kubernetes?.context ?? null,
      url: kubernetes?.url ?? null,
    },
    scalers: {
      paths: (scalers?.paths ?? [SERVICE_DEFAULTS.scalersPath]).map(resolvePath),
      customResources: scalers?.customResources ?? SERVICE_DEFAULTS.customResources,
    },
    server: {
      host: server?.host ?? null,
      port: server?.port ?? SERVICE_DEFAULTS.port,
      allowedHosts: server?.allowedHosts ?? [],
      dashboard: server?.dashboard ?? SERVICE_DEFAULTS.dashboard,
      groupLabel: server?.groupLabel ?? null,
      grafanaUrl: server?.grafanaUrl ?? null,
      auth: resolveAuth(server?.auth, resolvePath),
      peerKeyFile: server?.peerKeyFile === undefined ? null : resolvePath(server.peerKeyFile),
    },
    metrics: { detail: input.metrics?.detail ?? SERVICE_DEFAULTS.metricsDetail },
    state: { enabled: input.state?.enabled ?? null },
    leaderElection: resolveElection(leaderElection),
    sharding: { enabled: input.sharding?.enabled ?? SERVICE_DEFAULTS.sharding },
    notifications: Object.fromEntries(
      Object.entries(input.notifications ?? {}).map(([name, receiver]) => [
        name,
        resolveReceiver(name, receiver, resolvePath),
      ]),
    ),
    defaults: input.defaults ?? {},
    record:
      record === undefined
        ? null
        : {
            path: resolvePath(record.path),
            which: record.which ?? SERVICE_DEFAULTS.recordWhich,
            maxFileBytes: record.maxFileBytes ?? SERVICE_DEFAULTS.recordMaxFileBytes,
            maxFiles: record.maxFiles ?? SERVICE_DEFAULTS.recordMaxFiles,
          },
    recommendations: resolveRecommendations(input.recommendations),
    log: {
      level: log?.level ?? SERVICE_DEFAULTS.logLevel,
      format: log?.format ?? SERVICE_DEFAULTS.logFormat,
    },
  });
}

function resolveRecommendations(input: ServiceInput['recommendations']): RecommendationsConfig | null {
  if (input?.enabled !== true) return null;
  return {
    days: input.days ?? SERVICE_DEFAULTS.recommendationDays,
    schedule: input.schedule ?? SERVICE_DEFAULTS.recommendationSchedule,
    timeZone: input.timeZone ?? SERVICE_DEFAULTS.recommendationTimeZone,
    spreadMinutes: input.spreadMinutes ?? SERVICE_DEFAULTS.recommendationSpreadMinutes,
    cpuPercent: input.cpuPercent ?? SERVICE_DEFAULTS.recommendationCpuPercent,
    events: input.events ?? SERVICE_DEFAULTS.recommendationEvents,
  };
}

function resolveElection(input: ServiceInput['leaderElection']): LeaderElectionConfig {
  return {
    enabled: input?.enabled ?? null,
    leaseDurationSeconds: input?.leaseDurationSeconds ?? SERVICE_DEFAULTS.leaseDurationSeconds,
    renewDeadlineSeconds: input?.renewDeadlineSeconds ?? SERVICE_DEFAULTS.renewDeadlineSeconds,
    retryPeriodSeconds: input?.retryPeriodSeconds ?? SERVICE_DEFAULTS.retryPeriodSeconds,
  };
}

function resolveAuth(
  input: NonNullable<ServiceInput['server']>['auth'],
  resolvePath: (path: string) => string,
): AuthConfig | null {
  if (input === undefined) return null;
  const { bearerTokenFile } = input;
  return bearerTokenFile === undefined
    ? { kind: 'review' }
    : { kind: 'token', bearerTokenFile: resolvePath(bearerTokenFile) };
}

function resolveSource(
  name: string,
  input: SourceInput,
  resolvePath: (path: string) => string,
): SourceConfig {
  const scrapeIntervalSeconds = input.scrapeIntervalSeconds ?? SERVICE_DEFAULTS.scrapeIntervalSeconds;
  const { bearerTokenFile, basicAuth, resourceWindows, flavor = SERVICE_DEFAULTS.flavor } = input;
  const { resourceQueries = {}, maxQueriesPerNamespace, maxQuerySecondsPerNamespace } = input;
  return {
    name,
    urls: input.urls ?? [SERVICE_DEFAULTS.url],
    ...(input.externalUrl === undefined ? {} : { externalUrl: input.externalUrl }),
    flavor,
    timeoutSeconds: input.timeoutSeconds ?? SERVICE_DEFAULTS.timeoutSeconds,
    maxConcurrentQueries: input.maxConcurrentQueries ?? SERVICE_DEFAULTS.maxConcurrentQueries,
    ...(maxQueriesPerNamespace === undefined ? {} : { maxQueriesPerNamespace }),
    ...(maxQuerySecondsPerNamespace === undefined ? {} : { maxQuerySecondsPerNamespace }),
    maxAnswerBytes: input.maxAnswerBytes ?? SERVICE_DEFAULTS.maxAnswerBytes,
    maxSeries: input.maxSeries ?? SERVICE_DEFAULTS.maxSeries,
    scrapeIntervalSeconds,
    ...(input.maxSampleAgeSeconds === undefined ? {} : { maxSampleAgeSeconds: input.maxSampleAgeSeconds }),
    headers: input.headers ?? {},
    bearerTokenFile: bearerTokenFile === undefined ? null : resolvePath(bearerTokenFile),
    basicAuth:
      basicAuth === undefined
        ? null
        : { username: basicAuth.username, passwordFile: resolvePath(basicAuth.passwordFile) },
    signIn: resolveSignIn(input, resolvePath),
    tls: resolveTls(input.tls, resolvePath),
    ...resolveWindow(input),
    ...resolveResourceQueries(resourceQueries, flavor),
    ifVictoriaMetrics:
      input.flavor === undefined
        ? { flavor: 'victoriametrics', ...resolveResourceQueries(resourceQueries, 'victoriametrics') }
        : null,
    ...(resourceWindows === undefined ? {} : { resourceWindows: secondsByName(resourceWindows) }),
    namespaces: input.namespaces ?? [],
  };
}

/**
 * Returns the window of resource metrics. If it is unset, four configured scrape intervals (or the default) apply until
 * the scrape interval has been measured.
 */
function resolveWindow({
  resourceWindowSeconds,
  scrapeIntervalSeconds,
}: SourceInput): Pick<SourceConfig, 'resourceWindowSeconds' | 'learnedIntervalSeconds'> {
  if (resourceWindowSeconds !== undefined) return { resourceWindowSeconds };
  return {
    resourceWindowSeconds:
      scrapeIntervalSeconds === undefined
        ? SERVICE_DEFAULTS.resourceWindowSeconds
        : windowOfInterval(scrapeIntervalSeconds),
    learnedIntervalSeconds: null,
  };
}

function secondsByName(
  windows: NonNullable<SourceInput['resourceWindows']>,
): Readonly<Record<string, number>> {
  const { cpu, memory } = windows;
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

function resolveReceiver(
  name: string,
  input: ReceiverInput,
  resolvePath: (path: string) => string,
): ReceiverConfig {
  const file = (path: string | undefined): string | null => (path === undefined ? null : resolvePath(path));
  return {
    name,
    format: input.format ?? SERVICE_DEFAULTS.notificationFormat,
    url: input.url ?? null,
    urlFile: file(input.urlFile),
    bearerTokenFile: file(input.bearerTokenFile),
    tls: resolveTls(input.tls, resolvePath),
    events: input.events ?? SERVICE_DEFAULTS.notificationEvents,
    namespaces: input.namespaces ?? [],
    timeoutSeconds: input.timeoutSeconds ?? SERVICE_DEFAULTS.notificationTimeoutSeconds,
    maxPerMinute: input.maxPerMinute ?? SERVICE_DEFAULTS.notificationsPerMinute,
  };
}

/** Returns the settings of the authentication method; null: there is none. service-rules.ts allows at most one. */
function resolveSignIn(
  { oauth2, sigv4, azure, google }: SourceInput,
  resolvePath: (path: string) => string,
): SignInConfig | null {
  if (oauth2 !== undefined) {
    const { tokenUrl, clientId, clientSecretFile, scopes = [], endpointParams = {}, tls } = oauth2;
    return {
      way: 'oauth2',
      tokenUrl,
      clientId,
      clientSecretFile: resolvePath(clientSecretFile),
      scopes,
      endpointParams,
      tls: resolveTls(tls, resolvePath),
    };
  }
  if (sigv4 !== undefined) {
    const { region, service = SERVICE_DEFAULTS.sigv4Service, roleArn, profile, credentialsFile } = sigv4;
    return {
      way: 'sigv4',
      region,
      service,
      roleArn: roleArn ?? null,
      profile: profile ?? null,
      credentialsFile: credentialsFile === undefined ? null : resolvePath(credentialsFile),
    };
  }
  if (azure !== undefined) {
    const { clientId, tenantId, cloud = SERVICE_DEFAULTS.azureCloud } = azure;
    return { way: 'azure', clientId: clientId ?? null, tenantId: tenantId ?? null, cloud };
  }
  return google === undefined ? null : { way: 'google' };
}

function resolveTls(input: SourceInput['tls'], resolvePath: (path: string) => string): TlsFiles | null {
  if (input === undefined) return null;
  const file = (path: string | undefined): string | null => (path === undefined ? null : resolvePath(path));
  return {
    caFile: file(input.caFile),
    certFile: file(input.certFile),
    keyFile: file(input.keyFile),
    serverName: input.serverName ?? null,
    insecureSkipVerify: input.insecureSkipVerify ?? false,
  };
}
