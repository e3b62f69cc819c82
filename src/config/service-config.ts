import { dirname, isAbsolute, join } from 'node:path';
import type { Flavor, SourceConfig } from '../prometheus/source-config.js';
import { deepFreeze } from '../scaler/plain.js';
import type { ServiceInput, SourceInput } from './service-schema.js';
import { resolveSignIn } from './sign-in-config.js';
import { resolveTls } from './source-tls.js';

/** How the cluster is reached; null: found by itself (in-cluster, $KUBECONFIG, ~/.kube/config). */
export interface KubernetesConfig {
  /** The only ones that are worked on; empty: all. */
  readonly namespaces: readonly string[];
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly url: string | null;
}

/** Which of several replicas does the work. leaseDuration > renewDeadline > 1.2 x retryPeriod. */
export interface LeaderElectionConfig {
  /** Null: in a cluster, but not outside of one. */
  readonly enabled: boolean | null;
  readonly leaseDurationSeconds: number;
  readonly renewDeadlineSeconds: number;
  readonly retryPeriodSeconds: number;
}

/** The service config with every default filled in; paths of files joined to the folder of the config. Frozen. */
export interface ServiceConfig {
  /** By name; never empty. */
  readonly prometheus: Readonly<Record<string, SourceConfig>>;
  /** The longest that scale-down is held after metrics came back. */
  readonly recoveryHoldMaxSeconds: number;
  readonly kubernetes: KubernetesConfig;
  readonly scalers: {
    readonly paths: readonly string[];
    /** Whether documents are also objects of the cluster. */
    readonly customResources: boolean;
  };
  readonly server: {
    /** Null: all addresses in a cluster, those of this machine alone outside. */
    readonly host: string | null;
    /** 0: any free port. */
    readonly port: number;
    /** Names of a Host header that are let through beside those of the cluster. */
    readonly allowedHosts: readonly string[];
  };
  /** Null: in a cluster yes, outside no. */
  readonly state: { readonly enabled: boolean | null };
  readonly leaderElection: LeaderElectionConfig;
  /** Spec fields as written, for all documents. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'json' | 'text' };
}

/** What the service config holds where nothing is written. Source: contract.md section 3. */
export const SERVICE_DEFAULTS = {
  url: 'http://prometheus:9090',
  flavor: 'prometheus',
  timeoutSeconds: 10,
  maxConcurrentQueries: 10,
  scrapeIntervalSeconds: 30,
  resourceWindowSeconds: 120,
  scrapesInWindow: 4,
  recoveryHoldMaxSeconds: 900,
  scalersPath: 'scalers',
  customResources: false,
  port: 8080,
  leaseDurationSeconds: 15,
  renewDeadlineSeconds: 10,
  retryPeriodSeconds: 2,
  logLevel: 'info',
  logFormat: 'json',
} as const;

/** CPU and memory as cAdvisor, the kubelet's own exporter, tells them. */
export const RESOURCE_QUERIES = {
  cpu: 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]))',
  memory:
    'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * The same where a container is in the data more than once. The largest of its ways into the data is taken; what differs
 * by restart or processor is added up as before. Not the default: where a label of the scrape changes, the old and the new
 * series have a part of the window each.
 */
const ONCE_QUERIES = {
  cpu: (() => {
    const rateOf = (id: string): string =>
      `sum without (id, name, image, cpu) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD", ${id}}[$window]))`;
    // The series of /metrics/resource have no id and may differ by nothing else from those of cAdvisor.
    return `max by (namespace, pod, container) (${rateOf('id!=""')} or ${rateOf('id=""')})`;
  })(),
  memory:
    'max by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * VictoriaMetrics divides a rate by the part of the window that the series covers, so a container that was restarted, with
 * its old and its new series, would count twice: only series that live are rated. Each of the rates is then the whole
 * usage of the container, so that the largest one is right where a container is in the data more than once.
 */
const VICTORIA_METRICS_CPU = (() => {
  const selector =
    'container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}';
  return `max by (namespace, pod, container) (sum without (cpu) (rate(${selector}[$window]) and ${selector}))`;
})();

/** The config that a checked input stands for. `file` is where it was read; null: relative paths stay as they are. */
export function resolveServiceConfig(input: ServiceInput, file: string | null): ServiceConfig {
  const inFolder = (path: string): string =>
    file === null || isAbsolute(path) ? path : join(dirname(file), path);
  const sources = Object.entries(input.prometheus ?? { default: {} });
  const { kubernetes, scalers, server, leaderElection, log } = input;
  return deepFreeze({
    prometheus: Object.fromEntries(
      sources.map(([name, source]) => [name, resolveSource(name, source, inFolder)]),
    ),
    recoveryHoldMaxSeconds: input.recoveryHoldMaxSeconds ?? SERVICE_DEFAULTS.recoveryHoldMaxSeconds,
    kubernetes: {
      namespaces: kubernetes?.namespaces ?? [],
      kubeconfig: kubernetes?.kubeconfig === undefined ? null : inFolder(kubernetes.kubeconfig),
      context: kubernetes?.context ?? null,
      url: kubernetes?.url ?? null,
    },
    scalers: {
      paths: (scalers?.paths ?? [SERVICE_DEFAULTS.scalersPath]).map(inFolder),
      customResources: scalers?.customResources ?? SERVICE_DEFAULTS.customResources,
    },
    server: {
      host: server?.host ?? null,
      port: server?.port ?? SERVICE_DEFAULTS.port,
      allowedHosts: server?.allowedHosts ?? [],
    },
    state: { enabled: input.state?.enabled ?? null },
    leaderElection: resolveElection(leaderElection),
    defaults: input.defaults ?? {},
    log: {
      level: log?.level ?? SERVICE_DEFAULTS.logLevel,
      format: log?.format ?? SERVICE_DEFAULTS.logFormat,
    },
  });
}

function resolveElection(input: ServiceInput['leaderElection']): LeaderElectionConfig {
  return {
    enabled: input?.enabled ?? null,
    leaseDurationSeconds: input?.leaseDurationSeconds ?? SERVICE_DEFAULTS.leaseDurationSeconds,
    renewDeadlineSeconds: input?.renewDeadlineSeconds ?? SERVICE_DEFAULTS.renewDeadlineSeconds,
    retryPeriodSeconds: input?.retryPeriodSeconds ?? SERVICE_DEFAULTS.retryPeriodSeconds,
  };
}

function resolveSource(name: string, input: SourceInput, inFolder: (path: string) => string): SourceConfig {
  const scrapeIntervalSeconds = input.scrapeIntervalSeconds ?? SERVICE_DEFAULTS.scrapeIntervalSeconds;
  const { bearerTokenFile, basicAuth, resourceWindows, flavor = SERVICE_DEFAULTS.flavor } = input;
  return {
    name,
    urls: input.urls ?? [SERVICE_DEFAULTS.url],
    flavor,
    timeoutSeconds: input.timeoutSeconds ?? SERVICE_DEFAULTS.timeoutSeconds,
    maxConcurrentQueries: input.maxConcurrentQueries ?? SERVICE_DEFAULTS.maxConcurrentQueries,
    scrapeIntervalSeconds,
    headers: input.headers ?? {},
    bearerTokenFile: bearerTokenFile === undefined ? null : inFolder(bearerTokenFile),
    basicAuth:
      basicAuth === undefined
        ? null
        : { username: basicAuth.username, passwordFile: inFolder(basicAuth.passwordFile) },
    signIn: resolveSignIn(input, inFolder),
    tls: resolveTls(input.tls, inFolder),
    resourceWindowSeconds:
      input.resourceWindowSeconds ??
      Math.max(
        SERVICE_DEFAULTS.resourceWindowSeconds,
        SERVICE_DEFAULTS.scrapesInWindow * scrapeIntervalSeconds,
      ),
    ...resolveResourceQueries(input, flavor),
    ifVictoriaMetrics:
      input.flavor === undefined
        ? { flavor: 'victoriametrics', ...resolveResourceQueries(input, 'victoriametrics') }
        : null,
    ...(resourceWindows === undefined ? {} : { resourceWindows: secondsByName(resourceWindows) }),
    namespaces: input.namespaces ?? [],
  };
}

function resolveResourceQueries(
  { resourceQueries }: SourceInput,
  flavor: Flavor,
): Pick<SourceConfig, 'resourceQueries' | 'onceQueries'> {
  const { cpu = RESOURCE_QUERIES.cpu, memory = RESOURCE_QUERIES.memory } = resourceQueries ?? {};
  // The default that is spelled out, as in an example that was copied, is no choice of another query.
  const isDefault = (query: string, other: string): boolean => withoutSpaces(query) === withoutSpaces(other);
  const isDefaultCpu = isDefault(cpu, RESOURCE_QUERIES.cpu);
  const isVictoriaMetrics = flavor === 'victoriametrics';
  return {
    resourceQueries: { cpu: isVictoriaMetrics && isDefaultCpu ? VICTORIA_METRICS_CPU : cpu, memory },
    onceQueries: {
      ...(isDefaultCpu && !isVictoriaMetrics ? { cpu: ONCE_QUERIES.cpu } : {}),
      ...(isDefault(memory, RESOURCE_QUERIES.memory) ? { memory: ONCE_QUERIES.memory } : {}),
    },
  };
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function secondsByName(
  windows: NonNullable<SourceInput['resourceWindows']>,
): Readonly<Record<string, number>> {
  const { cpu, memory } = windows;
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}
