import type { Condition } from '../../decision/result/decision.js';
import { PodFacts } from '../../decision/proposals/settled-pods.js';
import type { Snapshot, State } from '../../decision/snapshot/snapshot.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { intendedCounts } from '../../kubernetes/state/state-entry.js';
import { compareResourceVersions } from '../../kubernetes/api/resource-version.js';
import type { Cluster, ClusterPod, OtherScaler, ScaleTarget } from '../../kubernetes/api/types.js';
import type { Awaitable } from '../../units/awaitable.js';
import { addSeconds, latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { shortfallOf, targetReached } from './capacity.js';
import { keepList } from './keep-list.js';
import { afterRead, afterOwnWrite } from '../memory/conflicting-writer.js';
import { findOtherScaler } from './shared-targets.js';
import type { AnsweredCycle, CycleInput, CyclePorts } from './ports.js';
import { copyMemory, forNewTarget } from '../memory/memory.js';
import { isUnderWay, resolveChange } from '../memory/unresolved-change.js';
import type { Memory } from '../memory/memory.js';
import type { Scaler } from '../../scaler/spec.js';
import { isSameSpec } from '../../telemetry/agreement.js';

export type Observation =
  | {
      readonly snapshot: Snapshot;
      readonly target: ScaleTarget;
      /** The memory for this target; fresh if the target was recreated. */
      readonly memory: Memory;
      readonly otherScaler: OtherScaler | null;
      readonly capacity: Condition;
    }
  | { readonly failure: KubernetesError; readonly target: ScaleTarget | null };

/** Older pods cause no scale-down, because a watch may be dead without an error. Source: reliability.md, K12. */
const STALE_CACHE_SECONDS = 180;

/**
 * Reads target and pods, and converts the answers to samples. A failed query becomes a sample, not an error. Returns a
 * promise only if something is to be read from the API server.
 */
export function observe(input: AnsweredCycle, ports: CyclePorts): Awaitable<Observation> {
  const { scaler, memory, signal } = input;
  const { cluster } = ports;
  const watched = cluster.readTarget(scaler.namespace, scaler.spec.scaleTargetRef, signal);
  if (watched instanceof Promise || memory.unresolved !== null) return observeLater(input, ports, watched);
  try {
    const others = cluster.listOtherScalers(scaler.namespace, signal);
    return others instanceof Promise
      ? observeLater(input, ports, watched, others)
      : observeTarget(input, ports, { ...readWatched(watched), others });
  } catch (error) {
    return failureOf(error, watched);
  }
}

async function observeLater(
  input: AnsweredCycle,
  ports: CyclePorts,
  reading: Awaitable<ScaleTarget>,
  /** Unset: they are listed after the target has been read. */
  listing?: Promise<readonly OtherScaler[]>,
): Promise<Observation> {
  const { scaler, memory, signal } = input;
  const { cluster } = ports;
  let target: ScaleTarget | null = null;
  try {
    const watched = await reading;
    const read = memory.unresolved === null ? readWatched(watched) : await readLive(input, cluster, watched);
    target = read.target;
    // A second listing would leave the first one without a caller to reject to.
    const others = await (listing ?? cluster.listOtherScalers(scaler.namespace, signal));
    return observeTarget(input, ports, { ...read, others });
  } catch (error) {
    return failureOf(error, target);
  }
}

function failureOf(error: unknown, target: ScaleTarget | null): Observation {
  if (error instanceof KubernetesError) return { failure: error, target };
  throw error;
}

function observeTarget(
  input: AnsweredCycle,
  ports: CyclePorts,
  seen: ReadTarget & { readonly others: readonly OtherScaler[] },
): Observation {
  const { scaler, now, readings, answers } = input;
  const { cluster } = ports;
  const { namespace } = scaler;
  const { target, others } = seen;
  const known = memoryOf(input.memory, seen, { now, epoch: ports.leadership.epoch() });
  const memory = withWriterCheck(input.memory, known, { target, now });
  const podFacts = keepFacts(input.memory.podFacts, cluster.listPods(namespace, target.selector));
  const { pods } = podFacts;
  const metrics = ports.observeMetrics({ scaler, memory, readings, now, pods, sources: answers.sources });
  const stale = whyStale(cluster, namespace);
  const staleUntil = stale === null ? null : addSeconds(now, scaler.spec.syncPeriodSeconds);
  const held = laterHold(metrics.holdScaleDownUntil, staleUntil);
  const state = afterDocumentChange(memory, scaler, now);
  const snapshot: Snapshot = {
    scaler,
    now,
    target: { specReplicas: target.specReplicas, statusReplicas: target.statusReplicas },
    pods,
    samples: metrics.samples,
    state: withHold(state, held, stale ?? metrics.holdReason),
  };
  const other = findOtherScaler(scaler, others);
  const isOutdated = other !== null && (cluster.areOtherScalersOutdated?.(namespace) ?? false);
  const otherScaler = isOutdated ? { ...other, isOutdated } : other;
  const shortfall = shortfallOf(memory.shortfall, target, { pods, now });
  const capacity = targetReached(target, shortfall, { pods, now });
  const observed = copyMemory(memory);
  observed.state = state;
  observed.scaler = scaler;
  observed.holds = metrics.holds;
  observed.shortfall = shortfall;
  observed.podFacts = podFacts;
  return { snapshot, target, memory: observed, otherScaler, capacity };
}

function keepFacts(
  before: PodFacts<ClusterPod> | undefined,
  listed: readonly ClusterPod[],
): PodFacts<ClusterPod> {
  const pods = keepList(before?.pods, listed);
  return before?.pods === pods ? before : new PodFacts(pods);
}

/** Marks what earlier decisions have stored as results of another version of the document. */
function afterDocumentChange({ state, scaler: before }: Memory, scaler: Scaler, now: Instant): State {
  const isSame = before === undefined || isSameSpec(before, scaler);
  return isSame ? state : { ...state, documentChangedAt: now };
}

/** Most scalers have no hold, and their state stays the same object. */
function withHold(state: State, holdScaleDownUntil: Instant | null, holdReason: string | null): State {
  const isSame = state.holdScaleDownUntil === holdScaleDownUntil && state.holdReason === holdReason;
  return isSame ? state : { ...state, holdScaleDownUntil, holdReason };
}

/** Reads the target live while a change is unresolved, because the watch may not show that change yet. */
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

function readWatched(target: ScaleTarget): ReadTarget {
  return { target, generation: target.generation ?? null };
}

interface ReadTarget {
  readonly target: ScaleTarget;
  /** Null if the generation may be older than `target`. */
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

/** While a PATCH is unresolved, its count cannot be distinguished from a count of another client. */
function withWriterCheck(
  before: Memory,
  memory: Memory,
  { target, now }: { readonly target: ScaleTarget; readonly now: Instant },
): Memory {
  const { specReplicas: replicas, replicasManagers: managers = [] } = target;
  const { unresolved } = before;
  if (unresolved === null) {
    const writer = afterRead(memory.writer, { replicas, managers, now });
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

function laterHold(a: Snapshot['now'] | null, b: Snapshot['now'] | null): Snapshot['now'] | null {
  if (a === null) return b;
  return b === null ? a : latest(a, b);
}
