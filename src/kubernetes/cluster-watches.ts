import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { createFeeds, type Feed, type Feeds } from './watch/feeds.js';
import type { Log } from '../units/log.js';
import { createObjectStore, type ObjectStore } from './watch/object-store.js';
import { createPodStore, type PodStore } from './pods/pod-store.js';
import { createPodReader } from './pods/pods.js';
import { APPS_ROOT, readWatchedTarget, watchedPlural, type WatchedTarget } from './targets.js';
import type { Transport } from './requests/transport.js';
import { KubernetesError } from './types.js';

export type TargetStore = ObjectStore<WatchedTarget>;

/** All that is watched: pods, and the kinds of apps/v1 that are scaled, where they are scaled. */
export interface Watches {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly follow: (targets: readonly { readonly namespace: string; readonly ref: TargetRef }[]) => void;
  readonly isSynced: () => boolean;
  /** One watch answers for all namespaces. */
  readonly isClusterWide: () => boolean;
  /** Null where the namespace is not followed. */
  readonly podsOf: (namespace: string) => Feed<PodStore> | null;
  /** Null where that kind is not followed there. */
  readonly targetsOf: (namespace: string, plural: string) => Feed<TargetStore> | null;
  /** Seconds since the slowest of what answers for a namespace has heard of the server; infinite if never. */
  readonly ageSeconds: (namespace: string) => number;
  /** See `Cluster.problemOf`. */
  readonly problemOf: (namespace: string) => KubernetesError | null;
}

export interface WatchesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** The only namespaces there are for us; empty: all. */
  readonly namespaces: readonly string[];
}

/** Up to so many namespaces one watch each; more are one watch of the whole cluster. */
const MAX_NAMESPACES = 20;
const STALE_SECONDS = 180;
/** Failures that no waiting mends: nobody should decide on what was read before. (A token that is refused is soon a new one.) */
const LASTING: readonly string[] = ['forbidden', 'not_found'] satisfies readonly KubernetesError['kind'][];

/** Watches nothing until something is followed. */
export function createWatches(options: WatchesOptions): Watches {
  const pods = createFeeds({
    ...options,
    root: '/api/v1',
    plural: 'pods',
    createStore: createPodStore,
    convert: createPodReader(),
  });
  const targets = new Map<string, Feeds<TargetStore>>(
    ['deployments', 'statefulsets', 'replicasets'].map((plural) => [
      plural,
      createFeeds({
        ...options,
        root: APPS_ROOT,
        plural,
        createStore: createObjectStore<WatchedTarget>,
        convert: readWatchedTarget,
      }),
    ]),
  );
  let isClusterWide = false;

  const feedsOf = (namespace: string): readonly Feed<unknown>[] =>
    [pods.of(namespace), ...[...targets.values()].map((feeds) => feeds.of(namespace))].filter(
      (feed) => feed !== null,
    );

  return {
    run: async (signal) => {
      await Promise.all([pods, ...targets.values()].map((feeds) => feeds.run(signal)));
    },
    follow: (followed) => {
      const known = followed.filter(
        ({ namespace }) => options.namespaces.length === 0 || options.namespaces.includes(namespace),
      );
      const namespaces = distinct(known);
      // Not back again when some go: each change of scope is a new list of everything.
      isClusterWide ||= options.namespaces.length === 0 && namespaces.length > MAX_NAMESPACES;
      const scopes = (of: readonly string[]): readonly (string | null)[] =>
        isClusterWide && of.length > 0 ? [null] : of;
      pods.want(scopes(namespaces));
      for (const [plural, feeds] of targets)
        feeds.want(scopes(distinct(known.filter(({ ref }) => watchedPlural(ref) === plural))));
    },
    isSynced: () => [pods, ...targets.values()].every((feeds) => feeds.isSynced()),
    isClusterWide: () => isClusterWide,
    podsOf: (namespace) => pods.of(namespace),
    targetsOf: (namespace, plural) => targets.get(plural)?.of(namespace) ?? null,
    ageSeconds: (namespace) => ageOf(feedsOf(namespace)),
    problemOf: (namespace) => problemOf(namespace, feedsOf(namespace)),
  };
}

function distinct(targets: readonly { readonly namespace: string }[]): readonly string[] {
  return [...new Set(targets.map(({ namespace }) => namespace))];
}

function ageOf(feeds: readonly Feed<unknown>[]): number {
  if (feeds.length === 0) return Number.POSITIVE_INFINITY;
  return Math.max(...feeds.map(({ reflector }) => reflector.ageSeconds()));
}

/** What keeps a feed from being relied on; null while it can be. */
export function problemOfFeed({ reflector }: Feed<unknown>): KubernetesError | null {
  const failure = reflector.failure();
  if (failure !== null && (!reflector.isSynced() || LASTING.includes(failure.kind))) return failure;
  return null;
}

function problemOf(namespace: string, feeds: readonly Feed<unknown>[]): KubernetesError | null {
  for (const feed of feeds) {
    const problem = problemOfFeed(feed);
    if (problem !== null) return problem;
  }
  const what = `reading pods and targets of namespace ${namespace}`;
  if (feeds.length === 0 || !feeds.every(({ reflector }) => reflector.isSynced()))
    return new KubernetesError('connection', `${what}: not listed yet`);
  const age = ageOf(feeds);
  if (age <= STALE_SECONDS) return null;
  const failure = feeds.map(({ reflector }) => reflector.failure()).find((error) => error !== null);
  return failure ?? new KubernetesError('timeout', `${what}: nothing heard for ${Math.floor(age)} s`);
}
