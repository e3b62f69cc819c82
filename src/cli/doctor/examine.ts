import { findSharedTargets } from '../../control/observe/shared-targets.js';
import { createPrometheusClient, type PrometheusClient } from '../../prometheus/client.js';
import { createMetricSource } from '../../prometheus/planner.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { withDeadline } from '../../units/clock.js';
import { checkCluster } from './checks/cluster.js';
import { checkClusterClock } from './checks/cluster-clock.js';
import { checkCustomResources } from './checks/custom-resources.js';
import { checkDecision } from './checks/decision.js';
import { checkFlavor } from './checks/flavor.js';
import { checkLease } from './checks/lease.js';
import { checkOtherScaler } from './checks/other-scaler.js';
import { checkPermissions } from './checks/permissions.js';
import { checkPods } from './checks/pods.js';
import { checkPrometheus } from './checks/prometheus.js';
import { checkPrometheusClock } from './checks/prometheus-clock.js';
import { checkQuery } from './checks/query.js';
import { checkQueryWindow } from './checks/query-window.js';
import { checkReplicasWriter } from './checks/replicas-writer.js';
import { checkRequests } from './checks/requests.js';
import { checkResourceSeries } from './checks/resource-series.js';
import { checkScrapeInterval } from './checks/scrape-interval.js';
import { checkState } from './checks/state.js';
import { checkTarget } from './checks/target.js';
import type { CheckName } from './check-names.js';
import { type Finding, findingsOf } from './finding.js';
import {
  CLUSTER_SUBJECT,
  type ClusterInquiry,
  type Inquiry,
  type SourceInquiry,
  sourceSubject,
} from './inquiry.js';
import { openCluster } from './open-cluster.js';
import { openSource } from './open-source.js';
import { readClusterFacts, type ScalerFacts } from './scaler-facts.js';
import { suggestPrometheus } from './suggest-prometheus.js';

type Findings = readonly Finding[] | Promise<readonly Finding[]>;
type Check<Facts> = readonly [CheckName, (facts: Facts) => Findings];

/** What is looked at where a data source answers. A further check is a line here and one in check-names.ts. */
const SOURCE_CHECKS: readonly Check<SourceInquiry>[] = [
  ['prometheus-clock', checkPrometheusClock],
  ['resource-series', checkResourceSeries],
  ['scrape-interval', checkScrapeInterval],
];

/** What is looked at where the API server answers. */
const CLUSTER_CHECKS: readonly Check<ClusterInquiry>[] = [
  ['cluster-clock', checkClusterClock],
  ['permissions', checkPermissions],
  ['lease', checkLease],
  ['state', checkState],
  ['custom-resources', checkCustomResources],
];

/** They judge the account that asks, and what the service has for itself. */
const OF_THE_SERVICE: ReadonlySet<CheckName> = new Set(['permissions', 'lease', 'state', 'custom-resources']);

/** What is looked at for each scaler. */
const SCALER_CHECKS: readonly Check<ScalerFacts>[] = [
  ['target', checkTarget],
  ['pods', checkPods],
  ['requests', checkRequests],
  ['other-scaler', checkOtherScaler],
  ['replicas-writer', checkReplicasWriter],
  ['query', checkQuery],
  ['query-window', checkQueryWindow],
  ['decision', checkDecision],
];

export interface Examination extends Omit<Inquiry, 'signal'> {
  readonly signal: AbortSignal;
  /** All documents; `scalers` are those to be looked at. */
  readonly allScalers: readonly Scaler[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder; null where there is none. */
  readonly home: string | null;
  /** Whether the account's permissions are the service's own. */
  readonly asksPermissions: boolean;
}

/** Milliseconds for everything together. */
const WHOLE_MS = 55_000;
/** Scalers that are looked at side by side. */
const AT_ONCE = 8;

/** Runs every check, for a minute at most. Nothing is changed anywhere. */
export async function examine(examination: Examination): Promise<readonly Finding[]> {
  const { clock, signal: parent } = examination;
  return withDeadline(clock, { ms: WHOLE_MS, parent }, async (signal) => {
    const inquiry = { ...examination, signal };
    const [sources, cluster] = await Promise.all([examineSources(inquiry), examineCluster(inquiry)]);
    try {
      const findings = await examineScalers(inquiry, {
        sources: sources.answering,
        cluster: cluster.inquiry,
      });
      const ofSources =
        cluster.inquiry === null
          ? sources.findings
          : await suggestPrometheus(sources.findings, cluster.inquiry);
      return [...ofSources, ...cluster.findings, ...findings];
    } finally {
      cluster.close();
    }
  });
}

async function examineSources(inquiry: Inquiry): Promise<{
  readonly findings: readonly Finding[];
  readonly answering: ReadonlyMap<string, SourceInquiry>;
}> {
  const answering = new Map<string, SourceInquiry>();
  const findings = await Promise.all(
    Object.values(inquiry.config.prometheus).map(async (source) => {
      const opened = openSource(inquiry, source);
      const reached = await checkPrometheus(opened);
      const subject = sourceSubject(source);
      if (reached.every(({ status }) => status === 'failed'))
        return [...reached, ...skipAll(SOURCE_CHECKS, { subject, why: 'it does not answer' })];
      const recognized = await opened.recognized();
      answering.set(source.name, recognized);
      const flavors = await checkFlavor(opened);
      return [...reached, ...flavors, ...(await runAll(SOURCE_CHECKS, recognized))];
    }),
  );
  return { findings: findings.flat(), answering };
}

interface ExaminedCluster {
  readonly findings: readonly Finding[];
  /** Null where it does not answer. */
  readonly inquiry: ClusterInquiry | null;
  readonly close: () => void;
}

async function examineCluster(examination: Examination): Promise<ExaminedCluster> {
  const checks = CLUSTER_CHECKS.filter(([name]) => examination.asksPermissions || !OF_THE_SERVICE.has(name));
  const skipped = skipAll(checks, { subject: CLUSTER_SUBJECT, why: 'the API server does not answer' });
  const opened = await openCluster(examination);
  if ('status' in opened) return { findings: [opened, ...skipped], inquiry: null, close: () => undefined };
  const { inquiry, close } = opened;
  const reached = await checkCluster(inquiry);
  if (reached.some(({ status }) => status === 'failed'))
    return { findings: [...reached, ...skipped], inquiry: null, close };
  return { findings: [...reached, ...(await runAll(checks, inquiry))], inquiry, close };
}

async function examineScalers(
  inquiry: Examination,
  reached: {
    readonly sources: ReadonlyMap<string, SourceInquiry>;
    readonly cluster: ClusterInquiry | null;
  },
): Promise<readonly Finding[]> {
  const { scalers, allScalers, clock, signal, config } = inquiry;
  const sources = new Map(Object.entries(config.prometheus));
  const shared = findSharedTargets(allScalers);
  // The same questions that the service asks, each once for all scalers; who is known to be silent is not waited for.
  const round = createMetricSource({
    sources,
    clock,
    onQuery: () => undefined,
    createClient: (source) =>
      reached.sources.has(source.name) ? createPrometheusClient(source, clock, inquiry.env) : SILENT_CLIENT,
  }).startRound(
    scalers.map((scaler) => ({ scaler, periodSeconds: scaler.spec.syncPeriodSeconds })),
    signal,
  );
  const results: Finding[][] = scalers.map(() => []);
  const queue = [...scalers.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, scaler] = next;
      results[index] = await examineScaler(scaler, { ...reached, inquiry, round, shared });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results.flat();
}

const SILENT_CLIENT: PrometheusClient = {
  query: () =>
    Promise.resolve({ class: 'failed', reason: 'connection', message: 'the data source does not answer' }),
  startTime: () => Promise.resolve(null),
};

async function examineScaler(
  scaler: Scaler,
  context: {
    readonly inquiry: Examination;
    readonly sources: ReadonlyMap<string, SourceInquiry>;
    readonly cluster: ClusterInquiry | null;
    readonly round: ReturnType<ReturnType<typeof createMetricSource>['startRound']>;
    readonly shared: ReadonlyMap<string, string>;
  },
): Promise<Finding[]> {
  const { sources, cluster, round, shared, inquiry } = context;
  const key = scalerKey(scaler);
  if (inquiry.signal.aborted)
    return skipAll(SCALER_CHECKS, {
      subject: key,
      why: `no time was left: name it alone (promscaler doctor ${key})`,
    });
  const [answers, facts] = await Promise.all([
    round.of(key),
    cluster === null ? null : readClusterFacts(cluster, scaler),
  ]);
  return runAll(SCALER_CHECKS, {
    scaler,
    cluster: facts,
    inquiry: cluster,
    answers,
    sources,
    sharesTargetWith: shared.get(key) ?? null,
    isDryRun: scaler.spec.dryRun || inquiry.isDryRun === true,
  });
}

async function runAll<Facts>(checks: readonly Check<Facts>[], facts: Facts): Promise<Finding[]> {
  return (await Promise.all(checks.map(async ([, run]) => run(facts)))).flat();
}

function skipAll(
  checks: readonly (readonly [CheckName, unknown])[],
  { subject, why }: { readonly subject: string; readonly why: string },
): Finding[] {
  return checks.map(([name]) => findingsOf(name, subject).skipped(why));
}
