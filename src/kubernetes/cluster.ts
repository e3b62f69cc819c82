import { nearest } from '../scaler/problems/nearest.js';
import { WATCHED_KINDS, type TargetRef } from '../scaler/spec.js';
import { onAbort } from '../units/abort.js';
import { withDeadline, type Clock } from '../units/clock.js';
import { createDiscovery } from './discovery.js';
import { createEventRecorder } from './event-recorder.js';
import { type HpaStore, meansNoHpas } from './hpa.js';
import type { Informer } from './watch/informers.js';
import { SILENT_LOG, type Log } from '../units/log.js';
import { createPodCosts, type PodCosts } from './pods/pod-costs.js';
import {
  createOwnWrites,
  getScale,
  sendScalePatch,
  type ScaleWithSelector,
  type WorkloadAccess,
} from './scale.js';
import type { PodStore } from './pods/pod-store.js';
import {
  knownScaleTarget,
  nameTarget,
  toScaleTarget,
  usableSelector,
  watchedPlural,
  type WatchedTarget,
} from './targets.js';
import {
  KubernetesError,
  MissingTargetError,
  type Cluster,
  type FollowedTarget,
  type OtherScaler,
  type Scale,
  type ScaleTarget,
} from './api/types.js';
import { createWatches, problemOfInformer, type Watches, type WatchesOptions } from './cluster-watches.js';

export interface ClusterOptions extends Omit<WatchesOptions, 'log'> {
  readonly log?: Log;
  /** The name of this pod, for `reportingInstance` of Events. */
  readonly instance?: string;
}

const FIRST_LIST_MS = 10_000;
/**
 * After this time without a list, HPAs may be outdated. While watching is forbidden, they are listed every 30 to 60
 * s, so at least one list has failed by then.
 */
const OUTDATED_SECONDS = 150;

/** Creates a cluster that sends no request before `run` or a read. The transport is closed at the end of `run`. */
export function createCluster(options: ClusterOptions): Cluster & { readonly podCosts: PodCosts } {
  const { transport, clock, namespaces, log = SILENT_LOG } = options;
  const watches = createWatches({ ...options, log });
  const discovery = createDiscovery(transport, clock);
  const events = createEventRecorder({ transport, clock, log, instance: options.instance ?? 'promscaler' });
  const writes = createOwnWrites(clock);
  let followed: readonly FollowedTarget[] = [];

  const workloadOf = async (
    namespace: string,
    ref: TargetRef,
    signal: AbortSignal,
  ): Promise<WorkloadAccess> => {
    checkNamespace(namespaces, namespace);
    return { transport, kind: await discovery.find(ref, signal), namespace, ref, signal };
  };

  const liveScale = async (workload: WorkloadAccess): Promise<ScaleWithSelector> => {
    try {
      return await getScale(workload);
    } catch (error) {
      if (error instanceof KubernetesError && error.kind === 'not_found') discovery.doubt(workload.ref);
      throw error;
    }
  };

  const usablePods = (namespace: string): PodStore => {
    const informer = watches.podsOf(namespace);
    // Before its first list, a store is empty even if the namespace has pods.
    if (informer?.reflector.isSynced() !== true) throw watches.whyNotListed(namespace);
    const problem = problemOfInformer(informer);
    if (problem !== null) throw problem;
    return informer.store;
  };

  /** Returns the target if the watch has its current version; null: `readTarget` must wait, send a request or throw. */
  const knownTarget = (namespace: string, ref: TargetRef): ScaleTarget | null => {
    const watched = isReadable(namespaces, namespace) ? watchedTarget(watches, namespace, ref) : null;
    if (watched === null || writes.isAheadOf(namespace, ref, watched.resourceVersion)) return null;
    return knownScaleTarget(ref, watched);
  };

  const readTarget = async (namespace: string, ref: TargetRef, signal: AbortSignal): Promise<ScaleTarget> => {
    const workload = await workloadOf(namespace, ref, signal);
    const watched = await readWatched(watches, workload, clock);
    if (watched === undefined) throw doesNotExist(watches, workload, followed);
    if (watched === null) return fromScale(workload, await liveScale(workload));
    const target = toScaleTarget(ref, watched);
    if (!writes.isAheadOf(namespace, ref, watched.resourceVersion)) return target;
    return { ...target, ...withoutSelector(await liveScale(workload)) };
  };

  return {
    run: async (signal) => {
      await watches.run(signal);
      await events.idle();
      transport.close();
    },
    follow: (targets) => {
      followed = targets;
      watches.follow(targets);
    },
    isSynced: watches.isSynced,
    isListing: watches.isListing,
    readTarget: (namespace, ref, signal) => knownTarget(namespace, ref) ?? readTarget(namespace, ref, signal),
    listPods: (namespace, selector) => usablePods(namespace).select(namespace, selector),
    podCosts: createPodCosts(transport, usablePods),
    cacheAgeSeconds: watches.ageSeconds,
    readScale: async (namespace, ref, signal) =>
      withoutSelector(await liveScale(await workloadOf(namespace, ref, signal))),
    patchScale: async (namespace, ref, change, signal) => {
      const scale = await sendScalePatch(await workloadOf(namespace, ref, signal), change);
      writes.remember(namespace, ref, scale.resourceVersion);
      return withoutSelector(scale);
    },
    tryScale: async (namespace, ref, change, signal) => {
      try {
        await sendScalePatch(await workloadOf(namespace, ref, signal), change, { isDryRun: true });
      } catch (error) {
        if (!(error instanceof KubernetesError) || error.kind !== 'conflict') throw error;
      }
    },
    recordEvent: events.record,
    listOtherScalers: (namespace, signal) => {
      checkNamespace(namespaces, namespace);
      const informer = watches.hpasOf(namespace);
      if (informer !== null && informer.reflector.isSynced()) return informer.store.of(namespace);
      return firstHpas(informer, { namespace, clock, signal });
    },
    areOtherScalersOutdated: (namespace) => {
      const reflector = watches.hpasOf(namespace)?.reflector;
      return reflector?.failure()?.kind === 'forbidden' && reflector.ageSeconds() > OUTDATED_SECONDS;
    },
  };
}

/** Returns null if the target or its pods are not watched, or not listed yet. */
function watchedTarget(watches: Watches, namespace: string, ref: TargetRef): WatchedTarget | null {
  const plural = watchedPlural(ref);
  const informer = plural === null ? null : watches.targetsOf(namespace, plural);
  if (informer === null || !isUsable(informer)) return null;
  const pods = watches.podsOf(namespace);
  if (pods !== null && !isUsable(pods)) return null;
  return informer.store.get(namespace, ref.name) ?? null;
}

/**
 * Returns a target from the watch. Null: its kind or namespace is not watched. Undefined: the object does not exist.
 * Throws `KubernetesError`.
 */
async function readWatched(
  watches: Watches,
  { namespace, ref, signal }: WorkloadAccess,
  clock: Clock,
): Promise<WatchedTarget | null | undefined> {
  const doing = `reading ${nameTarget(namespace, ref)}`;
  const pods = watches.podsOf(namespace);
  // Waits for the pods, too, because the caller reads them next.
  if (pods !== null && !isUsable(pods)) await firstList(pods, { doing, clock, signal });
  const plural = watchedPlural(ref);
  const informer = plural === null ? null : watches.targetsOf(namespace, plural);
  if (informer === null) return null;
  if (!isUsable(informer)) await firstList(informer, { doing, clock, signal });
  return informer.store.get(namespace, ref.name);
}

/**
 * Returns the error for a target that does not exist. It suggests a similar name, or another kind of the same name,
 * unless a document or an HPA scales that workload: two autoscalers would conflict.
 */
function doesNotExist(
  watches: Watches,
  { namespace, ref }: WorkloadAccess,
  followed: readonly FollowedTarget[],
): KubernetesError {
  const hpas = watches.hpasOf(namespace)?.store.of(namespace) ?? [];
  const scaled = [
    ...followed.filter((one) => one.namespace === namespace).map((one) => one.ref),
    ...hpas.map(({ target }) => target),
  ];
  const freeOf = (plural: string): readonly string[] => {
    const taken = new Set(scaled.filter((one) => watchedPlural(one) === plural).map(({ name }) => name));
    const targets = watches.targetsOf(namespace, plural)?.store.listIn(namespace) ?? [];
    return targets.map(({ name }) => name).filter((name) => !taken.has(name));
  };
  const plural = watchedPlural(ref);
  const near = plural === null ? null : nearest(ref.name, freeOf(plural));
  const kind = Object.entries(WATCHED_KINDS).find(([, one]) => freeOf(one).includes(ref.name))?.[0];
  const sameName = kind === undefined ? null : { kind, name: ref.name };
  const suggestion = near === null ? sameName : { kind: null, name: near };
  return new MissingTargetError(`reading ${nameTarget(namespace, ref)}`, { suggestion });
}

/** This is checked before `firstList` is called, because awaiting `firstList` each time would be slow. */
function isUsable({ reflector }: Informer<unknown>): boolean {
  return reflector.isSynced() && reflector.failure() === null;
}

interface Waiting {
  readonly doing: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Waits for the first list of the informer. Throws the failure of this list, or `timeout` after 10 s. */
async function firstList(informer: Informer<unknown>, waiting: Waiting): Promise<void> {
  await firstAnswer(informer, waiting);
  const problem = problemOfInformer(informer);
  if (problem !== null) throw problem;
}

/** Waits until the informer has listed or failed. Throws `timeout` after 10 s. */
async function firstAnswer(informer: Informer<unknown>, { doing, clock, signal }: Waiting): Promise<void> {
  if (!isSettled(informer))
    await withDeadline(clock, { ms: FIRST_LIST_MS, parent: signal }, (deadline) => {
      return new Promise<void>((resolve) => {
        const done = (): void => {
          if (!isSettled(informer) && !deadline.aborted) return;
          forget();
          forgetDeadline();
          resolve();
        };
        const forget = informer.reflector.onChange(done);
        const forgetDeadline = onAbort(deadline, done);
      });
    });
  if (!isSettled(informer)) throw notListed(doing);
}

async function firstHpas(
  informer: Informer<HpaStore> | null,
  { namespace, clock, signal }: Omit<Waiting, 'doing'> & { readonly namespace: string },
): Promise<readonly OtherScaler[]> {
  const doing = `reading HPAs in namespace ${namespace}`;
  if (informer === null) throw notListed(doing);
  await firstAnswer(informer, { doing, clock, signal });
  const failure = informer.reflector.failure();
  if (!informer.reflector.isSynced() && failure !== null && !meansNoHpas(failure)) throw failure;
  return informer.store.of(namespace);
}

function isSettled({ reflector }: Informer<unknown>): boolean {
  return reflector.isSynced() || reflector.failure() !== null;
}

function notListed(doing: string): KubernetesError {
  return new KubernetesError('timeout', `${doing}: the first list has not finished yet`);
}

function fromScale({ namespace, ref }: WorkloadAccess, scale: ScaleWithSelector): ScaleTarget {
  const selector = usableSelector(scale.selector, `reading scale of ${nameTarget(namespace, ref)}`);
  return { ref, namespace, ...withoutSelector(scale), selector, annotations: {} };
}

function withoutSelector({ uid, resourceVersion, specReplicas, statusReplicas }: Scale): Scale {
  return { uid, resourceVersion, specReplicas, statusReplicas };
}

function checkNamespace(namespaces: readonly string[], namespace: string): void {
  if (!isReadable(namespaces, namespace))
    throw new KubernetesError(
      'forbidden',
      `reading namespace ${namespace}: not listed in kubernetes.namespaces (${namespaces.join(', ')})`,
    );
}

function isReadable(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.length === 0 || namespaces.includes(namespace);
}
