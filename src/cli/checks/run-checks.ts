import { findSharedTargets } from '../../control/cycle/shared-targets.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { targetKey } from '../../kubernetes/targets.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { withDeadline } from '../../units/clock.js';
import { mapAtOnce } from '../../units/semaphore.js';
import { checkCluster, openCluster } from './cluster.js';
import { checkClusterClock, checkPrometheusClock } from './clocks.js';
import { checkForecast } from './forecast.js';
import { checkCustomResources } from './custom-resources.js';
import { checkDecision } from './decision.js';
import { checkLease } from './lease.js';
import { checkNotifications } from './notifications.js';
import { checkOtherScaler } from './other-scaler.js';
import { checkPermissions } from './permissions.js';
import { checkPodStart } from './pod-start.js';
import { checkPods } from './pods.js';
import { checkHistory, checkPrometheus, judgeFlavor } from './prometheus.js';
import { checkQuery } from './query.js';
import { checkQueryWindow } from './query-window.js';
import { checkReplicasWriter, combineReplicasWriters } from './replicas-writer.js';
import { checkRequests } from './requests.js';
import { checkResourceSeries } from './resource-series.js';
import { checkSampleAge } from './sample-age.js';
import { checkScrapeInterval } from './scrape-interval.js';
import { checkSpikes } from './spikes.js';
import { checkState } from './state.js';
import { checkTarget } from './target.js';
import { checkWakeUp } from './wake-up.js';
import {
  type CheckName,
  type CheckResult,
  resultsOf,
  type CheckResults,
  type Checked,
} from './check-result.js';
import {
  CLUSTER_SUBJECT,
  type ClusterContext,
  type DoctorContext,
  type SourceContext,
  sourceSubject,
} from './context.js';
import { suggestPrometheus } from './suggest-prometheus.js';
import { openDataSource, readAllAnswers } from './open-data-source.js';
import { isInDryRun, readClusterFacts, type ReportedState, type ScalerFacts } from './scaler-facts.js';

type Check<Facts> = readonly [CheckName, (facts: Checked<Facts>) => CheckResults | Promise<CheckResults>];

/** Checks that run only if the data source answers. */
const SOURCE_CHECKS: readonly Check<SourceContext>[] = [
  ['prometheus-clock', checkPrometheusClock],
  ['resource-series', checkResourceSeries],
  ['scrape-interval', checkScrapeInterval],
  ['sample-age', checkSampleAge],
];

/** Checks that run only if the API server answers. */
const CLUSTER_CHECKS: readonly Check<ClusterContext>[] = [
  ['cluster-clock', checkClusterClock],
  ['permissions', checkPermissions],
  ['lease', checkLease],
  ['state', checkState],
  ['custom-resources', checkCustomResources],
];

/** Checks of the service's own account and objects. `validate --live` skips them. */
const SERVICE_CHECKS: ReadonlySet<CheckName> = new Set(['permissions', 'lease', 'state', 'custom-resources']);

const SCALER_CHECKS: readonly Check<ScalerFacts>[] = [
  ['target', checkTarget],
  ['pods', checkPods],
  ['requests', checkRequests],
  ['other-scaler', checkOtherScaler],
  ['replicas-writer', checkReplicasWriter],
  ['query', checkQuery],
  ['query-window', checkQueryWindow],
  ['pod-start', checkPodStart],
  ['wake-up', checkWakeUp],
  ['forecast', checkForecast],
  ['spikes', checkSpikes],
];

interface ChecksInput extends DoctorContext {
  /** All documents, needed to find shared targets. Only those in `scalers` are checked. */
  readonly allScalers: readonly Scaler[];
  readonly includesServiceChecks: boolean;
  /** What the service reports, by key of the scaler; unset: the service is not read. */
  readonly reported?: Promise<ReadonlyMap<string, ReportedState>>;
  /** The keys of the Scaler objects whose targets were scaled at a known time; unset: none is known. */
  readonly scaled?: ReadonlySet<string>;
  /** The keys of the given documents whose Scaler objects in the cluster are not in dry run; unset: none is known. */
  readonly live?: ReadonlySet<string>;
}

const WHOLE_MS = 55_000;
const CONCURRENT_SCALERS = 8;

/** Runs all checks. Sends read requests only. */
export async function runChecks(input: ChecksInput): Promise<readonly CheckResult[]> {
  const { clock, signal: parent } = input;
  return withDeadline(clock, { ms: WHOLE_MS, parent }, async (signal) => {
    const limited = { ...input, signal };
    const [sources, cluster, receivers] = await Promise.all([
      checkSources(limited),
      checkClusterServices(limited),
      input.includesServiceChecks ? checkNotifications(limited) : [],
    ]);
    try {
      const ofScalers = await checkScalers(limited, {
        sources: sources.answering,
        cluster: cluster.context,
      });
      const ofSources =
        cluster.context === null
          ? sources.results
          : await suggestPrometheus(sources.results, cluster.context);
      return [...ofSources, ...receivers, ...cluster.results, ...ofScalers];
    } finally {
      cluster.context?.transport.close();
    }
  });
}

async function checkSources(context: DoctorContext): Promise<{
  readonly results: readonly CheckResult[];
  readonly answering: ReadonlyMap<string, SourceContext>;
}> {
  const answering = new Map<string, SourceContext>();
  const results = await Promise.all(
    Object.values(context.config.prometheus).map(async (source) => {
      const opened = openDataSource(context, source);
      const reached = await checkPrometheus(opened);
      const subject = sourceSubject(source);
      if (reached.every(({ status }) => status === 'failed'))
        return [...reached, ...skipAll(SOURCE_CHECKS, { subject, why: 'the data source does not answer' })];
      const recognized = await opened.recognized();
      answering.set(source.name, recognized);
      const flavors = await judgeFlavor(opened);
      const history = await checkHistory(recognized);
      return [...reached, ...flavors, ...history, ...(await runAll(SOURCE_CHECKS, subject, recognized))];
    }),
  );
  return { results: results.flat(), answering };
}

interface CheckedCluster {
  readonly results: readonly CheckResult[];
  /** Null: the API server does not answer. */
  readonly context: ClusterContext | null;
}

async function checkClusterServices(input: ChecksInput): Promise<CheckedCluster> {
  const checks = CLUSTER_CHECKS.filter(([name]) => input.includesServiceChecks || !SERVICE_CHECKS.has(name));
  const skipped = skipAll(checks, { subject: CLUSTER_SUBJECT, why: 'the API server does not answer' });
  const context = await openCluster(input);
  if ('status' in context) return { results: [context, ...skipped], context: null };
  const reached = await checkCluster(context);
  if (reached.status !== 'failed')
    return { results: [reached, ...(await runAll(checks, CLUSTER_SUBJECT, context))], context };
  context.transport.close();
  return { results: [reached, ...skipped], context: null };
}

interface ReachedSystems {
  readonly sources: ReadonlyMap<string, SourceContext>;
  /** Null: the API server does not answer. */
  readonly cluster: ClusterContext | null;
}

async function checkScalers(
  input: ChecksInput,
  { sources, cluster }: ReachedSystems,
): Promise<readonly CheckResult[]> {
  const shared = findSharedTargets(input.allScalers);
  const answers = readAllAnswers(input, sources);
  const results = await mapAtOnce(input.scalers, CONCURRENT_SCALERS, (scaler) =>
    checkScaler(scaler, { sources, cluster, input, answers, shared }),
  );
  return combineReplicasWriters(results.flat());
}

interface ScalerInput extends ReachedSystems {
  readonly input: ChecksInput;
  readonly answers: Promise<ReadonlyMap<Scaler, readonly Answer[]>>;
  readonly shared: ReturnType<typeof findSharedTargets>;
}

async function checkScaler(
  scaler: Scaler,
  { sources, cluster, answers, shared, input }: ScalerInput,
): Promise<CheckResult[]> {
  const key = scalerKey(scaler);
  if (input.signal.aborted)
    return skipAll([...SCALER_CHECKS, ['decision', checkDecision]], {
      subject: key,
      why: `the time limit of ${WHOLE_MS / 1000} s was exceeded; check this scaler only: promscaler doctor ${key}`,
    });
  const [known, facts, reported] = await Promise.all([
    answers,
    cluster === null ? null : readClusterFacts(cluster, scaler),
    input.reported,
  ]);
  const scalerFacts: ScalerFacts = {
    scaler,
    cluster: facts,
    context: cluster,
    answers: known.get(scaler) ?? [],
    sources,
    allScalers: input.allScalers,
    sharesTargetWith: shared.get(key) ?? null,
    isDryRun: isInDryRun(scaler, input),
    reported: ofTarget(reported?.get(key), scaler),
    wasScaled: input.scaled?.has(key) ?? false,
    isObjectLive: input.live?.has(key) ?? false,
  };
  const results = await runAll(SCALER_CHECKS, key, scalerFacts);
  return [...results, await checkDecision(scalerFacts, results)];
}

/** Returns what the service reports, unless the document has another target than the version that is in effect. */
function ofTarget(reported: ReportedState | undefined, { namespace, spec }: Scaler): ReportedState | null {
  const isSame =
    reported !== undefined &&
    targetKey(namespace, reported.target) === targetKey(namespace, spec.scaleTargetRef);
  return isSame ? reported : null;
}

async function runAll<Facts>(
  checks: readonly Check<Facts>[],
  subject: string,
  facts: Facts,
): Promise<CheckResult[]> {
  const results = checks.map(async ([name, run]) => run({ ...facts, make: resultsOf(name, subject) }));
  return (await Promise.all(results)).flat();
}

function skipAll(
  checks: readonly (readonly [CheckName, unknown])[],
  { subject, why }: { readonly subject: string; readonly why: string },
): CheckResult[] {
  return checks.map(([name]) => resultsOf(name, subject).skipped(why));
}
