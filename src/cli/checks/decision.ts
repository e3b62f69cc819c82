import { runCycle } from '../../control/cycle/cycle.js';
import { readPause, stops, whyNotKept } from '../../control/cycle/pause.js';
import { alwaysLeads } from '../../control/election/leadership.js';
import { freshMemory } from '../../control/memory/memory.js';
import { stateInMemory } from '../../kubernetes/state/state-store.js';
import { cannotScale, unreadTarget } from '../../decision/failing.js';
import type { Decision } from '../../decision/result/decision.js';
import { EMPTY_STATE, type State } from '../../decision/snapshot/snapshot.js';
import { KubernetesError, type Cluster } from '../../kubernetes/api/types.js';
import { atMaximum } from '../../decision/bound-states.js';
import { pauseMessage } from '../../decision/pause.js';
import { noFollowUps } from '../../prometheus/queries/follow-ups.js';
import { scalerKey } from '../../scaler/spec.js';
import type { CycleRecord } from '../../telemetry/cycle-record.js';
import { countOf } from '../../units/format.js';
import { type CheckName, type CheckResult, resultsOf } from './check-result.js';
import { type ClusterContext, usedSources } from './context.js';
import { type ClusterFacts, type ScalerFacts, readPods } from './scaler-facts.js';

/** Checks whose results explain why a metric has no value. */
const CAUSES: ReadonlySet<CheckName> = new Set(['pods', 'requests', 'query', 'wake-up']);

/** Reports the decision for the values that were read. `above`: the results of the other checks of the scaler. */
export async function checkDecision(facts: ScalerFacts, above: readonly CheckResult[]): Promise<CheckResult> {
  const { scaler, cluster, context } = facts;
  const make = resultsOf('decision', scalerKey(scaler));
  if (cluster === null || context === null) return make.skipped('the API server does not answer');
  if (cluster.target instanceof KubernetesError) return make.skipped('the target cannot be read');
  if (cluster.pods instanceof KubernetesError) return make.skipped('the pods cannot be read');
  if (scaler.spec.metrics.every(({ source }) => !facts.sources.has(source)))
    return make.skipped('no data source of the metrics answers');
  const record = await decideOnce({ ...facts, cluster, context });
  const { decision, conditions } = record;
  const { spec } = scaler;
  if (decision === null) return make.skipped(unreadTarget(conditions)?.message ?? 'no decision is possible');
  // Takes `isDryRun` from the document: the cycle of this check is always a dry run, so its own flag says nothing.
  const hasConflict = record.otherScaler !== undefined;
  const notKept = whyNotKept({ isDryRun: facts.isDryRun, hasConflict });
  const pause = readPause(spec, cluster.target.annotations, context.clock.now(), notKept);
  const ignored = spec.fallback === null ? 'all windows' : 'all windows and the fallback';
  const { currentReplicas: from, desiredReplicas: to } = decision;
  // Such a decision uses no metric, so its reason has no counts.
  const isAboveMaximum = decision.metrics.length === 0 && from > decision.maxReplicas && to < from;
  const change = isAboveMaximum ? `: ${from} -> ${to}` : '';
  const sentence = `the current decision, which ignores ${ignored}, is: ${decision.reason}${change}${describeHold(facts, { ...record, pause, decision })}`;
  if (cannotScale(conditions) !== undefined)
    return make.warning(sentence, fixForNoValue(decision, facts, above));
  const far = decision.metrics.find(({ ratio }) => ratio !== null && ratio > SUSPICIOUS_RATIO);
  if (far !== undefined)
    return make.warning(
      `${sentence}; ${far.name} is ${Math.round(far.ratio ?? 0)} times its target`,
      'check that the target has the unit of the query (bytes: 500Mi, cores: 500m, seconds rather than milliseconds)',
    );
  if (pause !== null) {
    const end =
      pause.by === 'document'
        ? 'remove spec.paused from the document'
        : `promscaler resume ${scalerKey(scaler)}`;
    return make.warning(sentence, `if the pause is no longer needed: ${end}`);
  }
  if (isAboveMaximum)
    return make.warning(
      `${sentence}; ${facts.isDryRun ? 'after the dry run, ' : ''}${countOf(from - to, 'pod')} would end at once, because no window or policy delays this change`,
      `to keep all pods, set spec.maxReplicas to at least ${from}`,
    );
  if (atMaximum(record) !== null)
    return make.warning(
      sentence,
      `if the metrics are right, raise the maximum of ${decision.maxReplicas}; ${decision.recommendedReplicas ?? '?'} replicas are recommended`,
    );
  return make.ok(sentence);
}

function fixForNoValue(
  { metrics }: Decision,
  { scaler, cluster }: ScalerFacts,
  above: readonly CheckResult[],
): string {
  const { fallback } = scaler.spec;
  const effect =
    fallback === null
      ? 'a metric without a value triggers no scaling'
      : `a metric without a value for ${fallback.afterSeconds} s counts as ${countOf(fallback.replicas, 'replica')} (spec.fallback)`;
  if (above.some(({ check, status }) => CAUSES.has(check) && status !== 'ok'))
    return `see the problems above: until they are fixed, ${effect}`;
  const pods = readPods(cluster) ?? [];
  const ready = new Set(pods.filter(({ pod }) => pod.ready === true).map(({ name }) => name));
  const isWaiting = metrics.some(({ pods: { unready } }) => unready.some((name) => ready.has(name)));
  return `${isWaiting ? 'wait until the metrics count all ready pods, and run' : 'run'} this command again; until then, ${effect}`;
}

interface DecisionFacts extends Pick<ScalerFacts, 'scaler' | 'answers' | 'sharesTargetWith' | 'sources'> {
  readonly cluster: ClusterFacts;
  readonly context: ClusterContext;
}

/**
 * Runs one cycle with the values that were read, without a patch. Windows, confirmations and cooldowns do not hold the
 * decision: they depend on earlier decisions of the service, which the check does not know.
 */
export async function decideOnce({
  cluster,
  context,
  sources,
  ...facts
}: DecisionFacts): Promise<CycleRecord> {
  const { scaler, sharesTargetWith } = facts;
  const { clock, signal } = context;
  const now = clock.now();
  const { record } = await runCycle(
    {
      scaler: { ...scaler, spec: { ...scaler.spec, downscaleConfirmation: null, cooldownSeconds: 0 } },
      // Overrides fields of the fresh memory, and skips restoring the state: both would start stabilization windows
      // now, which would keep the current replicas.
      memory: { ...freshMemory(now, null), state: WITHOUT_WINDOWS, assumedAt: null, isRestored: true },
      now,
      readings: { answers: facts.answers, ages: new Map(), sinceMs: clock.monotonicMs() },
      followUps: noFollowUps(usedSources(context.config, sources)),
      leadership: alwaysLeads('doctor'),
      sharesTargetWith,
      isCurrent: () => false,
      signal,
    },
    {
      clock,
      cluster: readOnlyCluster(cluster),
      // There are no earlier samples, so a recovery hold would always apply and hide the recommendation.
      recoveryHoldMaxSeconds: 0,
      dryRun: true,
      state: stateInMemory(),
      takeSlot: () => Promise.resolve(() => undefined),
    },
  );
  return record;
}

/** The list is empty instead of null, because null would count the current replicas as a current recommendation. */
const WITHOUT_WINDOWS: State = { ...EMPTY_STATE, recommendations: [] };

/** The check warns if a workload is this far from its target: usually, the target has another unit than the metric. */
const SUSPICIOUS_RATIO = 100;

function describeHold(
  { scaler: { spec }, isDryRun }: ScalerFacts,
  {
    pause,
    shadow,
    otherScaler,
    decision: { action },
  }: Pick<CycleRecord, 'pause' | 'shadow' | 'otherScaler'> & { readonly decision: Decision },
): string {
  const isOtherWay = pause !== null && pause.replicas === null && action !== 'none' && !stops(pause, action);
  if (pause !== null && !isOtherWay) {
    const subject = pause.direction === 'both' ? 'not' : `${pause.direction} is not`;
    return ` (${subject} applied: ${pauseMessage(pause)})`;
  }
  if (!isDryRun) {
    // In a conflict, nothing is applied, which the check `other-scaler` reports.
    const isApplied = isOtherWay && otherScaler === undefined;
    return isApplied ? ` (applied in spite of the pause: ${pauseMessage(pause)})` : '';
  }
  const why = spec.dryRun ? 'spec.dryRun is true' : 'the service runs with --dry-run';
  const compared =
    shadow === undefined
      ? ''
      : `; the metric promscaler_shadow_difference_replicas compares the decision with ${shadow.beside}`;
  return ` (not applied: ${why}${compared})`;
}

/** Returns a cluster whose reads return the values that were read before. Writes throw. */
function readOnlyCluster({ target, pods, others }: ClusterFacts): Cluster {
  const orThrow = <T>(value: T | KubernetesError): T => {
    if (value instanceof KubernetesError) throw value;
    return value;
  };
  const rejectWrite = (): never => {
    throw new Error('doctor must not write to the cluster');
  };
  return {
    run: () => Promise.resolve(),
    follow: () => undefined,
    isSynced: () => true,
    isListing: () => false,
    readTarget: () => Promise.resolve(orThrow(target)),
    listPods: () => orThrow(pods ?? []).map(({ pod }) => pod),
    cacheAgeSeconds: () => 0,
    readScale: () => Promise.resolve(orThrow(target)),
    patchScale: rejectWrite,
    tryScale: rejectWrite,
    recordEvent: () => undefined,
    listOtherScalers: () => Promise.resolve(others instanceof KubernetesError ? [] : others),
    areOtherScalersOutdated: () => others instanceof KubernetesError,
  };
}
