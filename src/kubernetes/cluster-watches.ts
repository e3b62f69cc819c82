import { type TargetRef, WATCHED_KINDS } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { createInformers, type Informer, type Informers } from './watch/informers.js';
import { createHpaStore, HPA_FIELDS, HPA_PLURAL, HPA_ROOT, type HpaStore, readWatchedHpa } from './hpa.js';
import type { Log } from '../units/log.js';
import { createObjectStore, type NamedStore } from './watch/object-store.js';
import { createPodStore, type PodStore } from './pods/pod-store.js';
import { createPodReader, POD_FIELDS } from './pods/watched-pod.js';
import { APPS_ROOT, readWatchedTarget, TARGET_FIELDS, watchedPlural, type WatchedTarget } from './targets.js';
import type { Transport } from './requests/transport.js';
import { KubernetesError, type OtherScaler } from './api/types.js';

type TargetStore = NamedStore<WatchedTarget>;

/** The watches of pods, of kinds of apps/v1 and of HPAs, in the namespaces with scale targets. */
export interface Watches {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly follow: (targets: readonly { readonly namespace: string; readonly ref: TargetRef }[]) => void;
  /** Returns whether pods and targets have been listed. Ignores HPAs, because listing them may be forbidden. */
  readonly isSynced: () => boolean;
  readonly isListing: () => boolean;
  readonly podsOf: (namespace: string) => Informer<PodStore> | null;
  /** Returns the informer of a kind; null: the kind is not watched in the namespace. */
  readonly targetsOf: (namespace: string, plural: string) => Informer<TargetStore> | null;
  readonly hpasOf: (namespace: string) => Informer<HpaStore> | null;
  /**
   * Returns the seconds since the last event about pods, or about targets if that was longer ago. Infinite: the
   * namespace is not watched, or not listed yet.
   */
  readonly ageSeconds: (namespace: string) => number;
  /** Returns why the pods or targets of a namespace could not be listed. */
  readonly whyNotListed: (namespace: string) => KubernetesError;
}

export interface WatchesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** The namespaces to watch; empty: all. */
  readonly namespaces: readonly string[];
  /** Called when a watch reports the deletion of an HPA. */
  readonly onHpaRemoved?: (hpa: OtherScaler) => void;
}

/** With more namespaces than this, one watch covers the whole cluster. */
const MAX_NAMESPACES = 20;
/**
 * Failures after which the cached objects must no longer be used, because a retry does not help. `unauthorized` is not
 * one of them, because tokens rotate.
 */
const PERMANENT: readonly string[] = ['forbidden', 'not_found'] satisfies readonly KubernetesError['kind'][];

/** Creates watches that start with the first `follow`. */
export function createWatches(options: WatchesOptions): Watches {
  const pods = createInformers({
    ...options,
    root: '/api/v1',
    plural: 'pods',
    createStore: createPodStore,
    convert: createPodReader(),
    fields: POD_FIELDS,
  });
  const targets = new Map<string, Informers<TargetStore>>(
    Object.values(WATCHED_KINDS).map((plural) => [
      plural,
      createInformers({
        ...options,
        root: APPS_ROOT,
        plural,
        createStore: createObjectStore<WatchedTarget>,
        convert: readWatchedTarget,
        fields: TARGET_FIELDS,
      }),
    ]),
  );
  const hpas = createInformers({
    ...options,
    root: HPA_ROOT,
    plural: HPA_PLURAL,
    createStore: () => createHpaStore(options.onHpaRemoved),
    convert: readWatchedHpa,
    fields: HPA_FIELDS,
    fixFor: fixForHpas,
    listsWithoutWatch: true,
  });
  let isClusterWide = false;

  const informersOf = (namespace: string): readonly Informer<unknown>[] =>
    [pods.of(namespace), ...[...targets.values()].map((informers) => informers.of(namespace))].filter(
      (informer) => informer !== null,
    );

  /** Does not use `informersOf`, because building a list in each cycle would be slow. */
  const ageSeconds = (namespace: string): number => {
    let age = pods.of(namespace)?.reflector.ageSeconds() ?? null;
    for (const informers of targets.values()) {
      const informer = informers.of(namespace);
      if (informer !== null) age = Math.max(age ?? 0, informer.reflector.ageSeconds());
    }
    return age ?? Number.POSITIVE_INFINITY;
  };

  return {
    run: async (signal) => {
      await Promise.all([pods, hpas, ...targets.values()].map((informers) => informers.run(signal)));
    },
    follow: (followed) => {
      const known = followed.filter(
        ({ namespace }) => options.namespaces.length === 0 || options.namespaces.includes(namespace),
      );
      const namespaces = distinct(known);
      // Once the watches are cluster-wide, they stay so, because each change of the scope would list everything again.
      isClusterWide ||= options.namespaces.length === 0 && namespaces.length > MAX_NAMESPACES;
      const scopes = (of: readonly string[]): readonly (string | null)[] =>
        isClusterWide && of.length > 0 ? [null] : of;
      pods.want(scopes(namespaces));
      hpas.want(scopes(namespaces));
      for (const [plural, informers] of targets)
        informers.want(scopes(distinct(known.filter(({ ref }) => watchedPlural(ref) === plural))));
    },
    isSynced: () => [pods, ...targets.values()].every((informers) => informers.isSynced()),
    isListing: () => [pods, ...targets.values()].some((informers) => informers.isListing()),
    podsOf: (namespace) => pods.of(namespace),
    targetsOf: (namespace, plural) => targets.get(plural)?.of(namespace) ?? null,
    hpasOf: (namespace) => hpas.of(namespace),
    ageSeconds,
    whyNotListed: (namespace) =>
      informersOf(namespace)
        .map(problemOfInformer)
        .find((problem) => problem !== null) ??
      new KubernetesError(
        'connection',
        `reading pods and targets in namespace ${namespace}: the first list has not finished yet`,
      ),
  };
}

function fixForHpas({ kind }: KubernetesError): string | null {
  return kind === 'forbidden'
    ? 'set the chart value rbac.create: true (list and watch on horizontalpodautoscalers); until then, promscaler detects HPAs up to a minute late, or uses the last list if it is not allowed to list HPAs'
    : null;
}

function distinct(targets: readonly { readonly namespace: string }[]): readonly string[] {
  return [...new Set(targets.map(({ namespace }) => namespace))];
}

/** Returns why the objects of an informer must not be used; null: they may be used. */
export function problemOfInformer({ reflector }: Informer<unknown>): KubernetesError | null {
  const failure = reflector.failure();
  if (failure !== null && (!reflector.isSynced() || PERMANENT.includes(failure.kind))) return failure;
  return null;
}
