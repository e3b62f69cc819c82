import { longestPeriodSeconds } from '../../decision/limits/policy.js';
import { recent } from '../../decision/next-state.js';
import { PodFacts } from '../../decision/proposals/settled-pods.js';
import type { Pause } from '../../decision/pause.js';
import type { Snapshot, State } from '../../decision/snapshot/snapshot.js';
import { compareResourceVersions } from '../../kubernetes/watch/object-store.js';
import {
  KubernetesError,
  type Cluster,
  type ClusterPod,
  type OtherScaler,
  type ScaleTarget,
} from '../../kubernetes/api/types.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { intendedCounts } from '../../kubernetes/state/state-entry.js';
import { advanceHolds } from '../../prometheus/recovery-hold.js';
import { toCeiling, toSamples } from '../../prometheus/samples.js';
import { adoptedFrom, type Scaler } from '../../scaler/spec.js';
import { isSameSpec } from '../../telemetry/cycle-record.js';
import { addSeconds, type Instant, laterOf, secondsBetween } from '../../units/time.js';
import { afterOwnWrite, afterRead } from '../memory/conflicting-writer.js';
import { rebased, copyMemory, forNewTarget, type Memory } from '../memory/memory.js';
import { learnPodStarts, learnsPodStart, podStartOf, type PodStarts } from '../memory/pod-starts.js';
import { measureCapacities, withCapacities } from '../memory/measured-capacity.js';
import { isUnderWay, resolveChange } from '../memory/unresolved-change.js';
import { shortfallOf, targetReached } from './target-reached.js';
import { readPause, setsCount, whyNotKept } from './pause.js';
import { atReplicas, findOtherScaler, whyNotScaling } from './shared-targets.js';
import type { CycleInput, CyclePorts, Observed, Unread } from './types.js';

/**
 * If the API server has sent nothing about the pods for this long, nothing is scaled down: the watch may have failed
 * without an error. Source: reliability.md, K12.
 */
const STALE_CACHE_SECONDS = 180;

/**
 * Delay until a dry run reports that nothing scales the target. The autoscaler may be missing because of a hand-over:
 * KEDA deletes an HPA within a minute. A new HPA sets its first count after 15 s or more.
 */
const HAND_OVER_SECONDS = 60;

/**
 * Reads the target, its pods and HPAs, nearly always from the watches, and converts the answers to samples. A failed
 * query becomes a sample with an error. `degraded` says why the state store is unusable; null: it is usable.
 */
export async function observe(
  input: CycleInput,
  ports: CyclePorts,
  degraded: string | null,
): Promise<Observed | Unread> {
  const { scaler, memory, now, signal } = input;
  const { cluster } = ports;
  const isDryRun = ports.dryRun || scaler.spec.dryRun;
  const pauseOf = (of: ScaleTarget | null, other: OtherScaler | null) =>
    readPause(scaler.spec, of?.annotations ?? {}, now, whyNotKept({ isDryRun, hasConflict: other !== null }));
  let target: ScaleTarget | null = null;
  try {
    const watched = await cluster.readTarget(scaler.namespace, scaler.spec.scaleTargetRef, signal);
    const read =
      memory.unresolved === null
        ? { target: watched, generation: watched.generation ?? null }
        : await readLive(input, cluster, watched);
    target = read.target;
    const others = await cluster.listOtherScalers(scaler.namespace, signal);
    const otherScaler = otherScalerOf(input, cluster, { others, specReplicas: target.specReplicas });
    const idle = isDryRun ? idleScalerOf(input, ports, otherScaler) : null;
    const unscaledSince = idle === null ? undefined : (memory.unscaledSince ?? now);
    const isHandOver = unscaledSince === undefined || secondsBetween(unscaledSince, now) < HAND_OVER_SECONDS;
    const pause = pauseOf(target, input.sharesTargetWith ?? otherScaler);
    const { snapshot, memory: next, targetReached } = observeTarget(input, ports, read, { pause, isDryRun });
    // Lists the fields for speed: a spread takes V8 3 us, which is a tenth of a cycle.
    return {
      snapshot,
      target,
      memory: unscaledSince === next.unscaledSince ? next : { ...next, unscaledSince },
      targetReached,
      otherScaler,
      noAutoscaler:
        isHandOver || idle === null
          ? null
          : `nothing scales ${nameTarget(scaler.namespace, scaler.spec.scaleTargetRef)}: ${whyNotScaling(idle)}`,
      pause,
      isDryRun,
      degraded,
    };
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return { failure: error, target, pause: pauseOf(target, input.sharesTargetWith), isDryRun };
  }
}

function otherScalerOf(
  { scaler }: CycleInput,
  cluster: Cluster,
  { others, specReplicas }: { readonly others: readonly OtherScaler[]; readonly specReplicas: number },
): OtherScaler | null {
  const other = findOtherScaler(scaler.namespace, scaler.spec.scaleTargetRef, others);
  if (other === null) return null;
  const isOutdated = cluster.areOtherScalersOutdated(scaler.namespace);
  return isOutdated ? { ...other, isOutdated } : atReplicas(other, specReplicas);
}

/**
 * Returns the autoscaler that should scale the target of a dry run but does not: an HPA without desired replicas, or
 * the autoscaler from which the document was made, if the target has no other. Null: an autoscaler or a second scaler
 * scales the target, none is expected, or the list of HPAs is outdated. A second scaler patches nothing next to an HPA
 * or in a dry run of the service.
 */
function idleScalerOf(
  { scaler, sharesTargetWith }: CycleInput,
  { cluster, dryRun: isDryRunOfService }: CyclePorts,
  other: OtherScaler | null,
): Omit<OtherScaler, 'target'> | null {
  const { namespace } = scaler;
  if (cluster.areOtherScalersOutdated(namespace)) return null;
  if (other !== null) return other.whyNoCount === undefined ? null : other;
  if (sharesTargetWith !== null && !isDryRunOfService) return null;
  const source = adoptedFrom(scaler);
  return source === null ? null : { ...source, namespace };
}

function observeTarget(
  input: CycleInput,
  ports: CyclePorts,
  read: ReadTarget,
  { pause, isDryRun }: Pick<Observed, 'pause' | 'isDryRun'>,
): Pick<Observed, 'snapshot' | 'memory' | 'targetReached'> {
  const { scaler, now, readings, followUps, leadership } = input;
  const { sources } = followUps;
  const { cluster, recoveryHoldMaxSeconds: maxSeconds } = ports;
  const { namespace } = scaler;
  const { target } = read;
  const known = memoryOf(input.memory, read, { now, epoch: leadership.epoch() });
  const isByHand = input.memory.wasPaused === true || pause !== null;
  const memory = withWriterCheck(input.memory, known, {
    target,
    now,
    isByHand: isByHand && !setsCount(pause),
  });
  const podFacts = keepFacts(input.memory.podFacts, cluster.listPods(namespace, target.selector));
  const { pods } = podFacts;
  const { answers, ages, ceiling } = readings;
  const queriedSamples = toSamples(scaler, answers, { pods, now, sources });
  const capacities = measureCapacities(memory.capacities, scaler, {
    readingOf: (metric) => followUps.capacityOf(scaler, metric),
    pods,
    now,
  });
  const samples = withCapacities(queriedSamples, scaler, { capacities, now });
  const hold = advanceHolds(memory.holds, { scaler, samples, answers, ages, sources, now, maxSeconds });
  const stale = whyStale(cluster, namespace);
  const staleUntil = stale === null ? null : addSeconds(now, scaler.spec.syncPeriodSeconds);
  const holdUntil = laterOf(hold.holdScaleDownUntil, staleUntil);
  const shortfall = shortfallOf(memory.shortfall, target, { pods, now });
  const marks =
    memory.unresolved === null && input.memory.unresolved === null ? memory.forecastMarks : undefined;
  const isForeign = marks !== undefined && marks.replicas !== target.specReplicas;
  const { specReplicas } = target;
  const seen = isDryRun ? withSeenChange(memory, scaler, { specReplicas, now }) : memory;
  const changed = afterDocumentChange(seen, scaler, now);
  const state = isForeign ? rebased(changed, specReplicas) : changed;
  const next = copyMemory(memory);
  next.state = state;
  next.scaler = scaler;
  next.dryRunReplicas = isDryRun ? specReplicas : undefined;
  next.holds = hold.holds;
  next.shortfall = shortfall;
  next.podFacts = podFacts;
  const starts = podStartsOf(scaler, memory, pods);
  next.podStarts = starts;
  next.capacities = capacities;
  const podStart = starts === undefined ? null : podStartOf(starts);
  const { spec } = scaler;
  const podStartSeconds = spec.podStart?.seconds ?? podStart;
  const loadHistory =
    spec.forecast === null ? undefined : followUps.loadHistory(scaler, { now, podStartSeconds });
  const snapshot: Snapshot = {
    scaler,
    now,
    target: { specReplicas, statusReplicas: target.statusReplicas },
    pods,
    samples,
    ...(ceiling === undefined || spec.maxReplicasFrom === null
      ? {}
      : { maxReplicasFrom: toCeiling(ceiling, { source: spec.maxReplicasFrom.source, now }) }),
    ...(podStart === null || spec.podStart === null ? {} : { podStartSeconds: podStart }),
    state: withHold(setByPause(state, pause), holdUntil, stale ?? hold.holdReason),
  };
  return {
    snapshot: loadHistory === undefined ? snapshot : { ...snapshot, loadHistory },
    memory: next,
    targetReached: targetReached(target, shortfall, { pods, now }),
  };
}

function podStartsOf(
  { spec }: Scaler,
  { podStarts = new Map() }: Memory,
  pods: readonly ClusterPod[],
): PodStarts | undefined {
  return learnsPodStart(spec) ? learnPodStarts(podStarts, pods) : undefined;
}

function keepFacts(
  before: PodFacts<ClusterPod> | undefined,
  listed: readonly ClusterPod[],
): PodFacts<ClusterPod> {
  const pods = keepList(before?.pods, listed);
  return before?.pods === pods ? before : new PodFacts(pods);
}

/**
 * Adds a change that another client made since the last cycle of a dry run, as if promscaler had made it. Otherwise the
 * policies of `behavior` would allow more changes within their periods than without a dry run.
 */
function withSeenChange(
  memory: Memory,
  { spec }: Scaler,
  { specReplicas, now }: Pick<ScaleTarget, 'specReplicas'> & { readonly now: Instant },
): Memory {
  const { state, dryRunReplicas = specReplicas } = memory;
  if (dryRunReplicas === specReplicas) return memory;
  const event = { at: now, change: specReplicas - dryRunReplicas };
  const scaleEvents = recent(state.scaleEvents, event, addSeconds(now, -longestPeriodSeconds(spec)));
  return { ...memory, state: { ...state, scaleEvents } };
}

/**
 * Adds the time of the last change of the document to the state. A reason can then say that a stored result comes from
 * an earlier version.
 */
function afterDocumentChange({ state, scaler: before }: Memory, scaler: Scaler, now: Instant): State {
  const isSame = before === undefined || isSameSpec(before, scaler);
  return isSame ? state : { ...state, documentChangedAt: now };
}

/**
 * Returns `before` if both lists have the same elements in the same order, otherwise `list`. Caches that use a list as
 * their key then find their values again.
 */
export function keepList<T>(before: readonly T[] | undefined, list: readonly T[]): readonly T[] {
  if (before?.length !== list.length) return list;
  for (let index = 0; index < list.length; index += 1) if (before[index] !== list[index]) return list;
  return before;
}

/**
 * Returns the state in which promscaler has set the 0 of a pause with a fixed count. The state has no effect above 0
 * replicas.
 */
function setByPause(state: State, pause: Pause | null): State {
  return pause?.replicas === 0 && !state.zeroedBySelf ? { ...state, zeroedBySelf: true } : state;
}

/**
 * Returns the state with the end and the reason of a hold on scale-downs. If both are unchanged, returns `state`
 * itself, because most scalers have no hold.
 */
function withHold(state: State, holdScaleDownUntil: Instant | null, holdReason: string | null): State {
  const isSame = state.holdScaleDownUntil === holdScaleDownUntil && state.holdReason === holdReason;
  return isSame ? state : { ...state, holdScaleDownUntil, holdReason };
}

/**
 * Reads the target from the API server while a change is unresolved, because the watch may not show that change yet.
 */
async function readLive(
  { scaler, signal }: CycleInput,
  cluster: Cluster,
  target: ScaleTarget,
): Promise<ReadTarget> {
  const { namespace, spec } = scaler;
  const scale = await cluster.readScale(namespace, spec.scaleTargetRef, signal);
  const order = compareResourceVersions(target.resourceVersion, scale.resourceVersion);
  const isCurrent = target.resourceVersion === scale.resourceVersion || (order !== null && order > 0);
  return { target: { ...target, ...scale }, generation: isCurrent ? (target.generation ?? null) : null };
}

interface ReadTarget {
  readonly target: ScaleTarget;
  /** The generation of the target; null: unknown, because the watched object may be older than the live `/scale`. */
  readonly generation: number | null;
}

function memoryOf(
  memory: Memory,
  { target, generation }: ReadTarget,
  { now, epoch }: { readonly now: Instant; readonly epoch: string },
): Memory {
  if (memory.uid === null) return { ...memory, uid: target.uid };
  if (memory.uid !== target.uid) return forNewTarget(memory, now, target.uid);
  if (isUnderWay(memory, epoch, now)) return memory;
  const { specReplicas, resourceVersion } = target;
  return resolveChange(memory, { specReplicas, resourceVersion, generation }, now);
}

/**
 * Detects a count that another client has set. While the result of a PATCH is unknown, nothing is detected, because the
 * count may come from that PATCH.
 */
function withWriterCheck(
  before: Memory,
  memory: Memory,
  {
    target,
    now,
    isByHand,
  }: {
    readonly target: ScaleTarget;
    readonly now: Instant;
    /** Whether the scaler is or was paused: a user may set the count during a pause, which is not a conflict. */
    readonly isByHand: boolean;
  },
): Memory {
  const { specReplicas: replicas, replicasManagers: managers = [] } = target;
  const { unresolved } = before;
  if (unresolved === null) {
    const { own } = memory.writer;
    const writer = isByHand
      ? afterOwnWrite(memory.writer, own === replicas ? own : null)
      : afterRead(memory.writer, { replicas, managers, now });
    return writer === memory.writer ? memory : { ...memory, writer };
  }
  const isSettled = memory.unresolved === null && before.uid === memory.uid;
  const isMade = isSettled && intendedCounts(unresolved).includes(replicas);
  return { ...memory, writer: afterOwnWrite(memory.writer, isMade ? replicas : null) };
}

function whyStale(cluster: Cluster, namespace: string): string | null {
  const age = cluster.cacheAgeSeconds(namespace);
  return age > STALE_CACHE_SECONDS
    ? `the API server has sent nothing about the pods for ${Math.floor(age)} s`
    : null;
}
