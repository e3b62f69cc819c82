import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { compareResourceVersions } from './watch/object-store.js';
import { groupOf } from './targets.js';

/** PATCHes of this process that the watch may not have reported yet. */
interface OwnWrites {
  readonly remember: (namespace: string, ref: TargetRef, resourceVersion: string) => void;
  /** Returns whether the watched object is older than the last PATCH. Its replicas are then outdated. */
  readonly isAheadOf: (namespace: string, ref: TargetRef, watchedVersion: string) => boolean;
}

/** After this time, a watched version that cannot be compared counts as current. */
const INCOMPARABLE_MS = 60_000;
/** A watch that is behind for longer has been restarted by then (K12). */
const FORGET_MS = 3_600_000;

interface Write {
  readonly group: string;
  readonly kind: string;
  readonly resourceVersion: string;
  readonly atMs: number;
}

/** Source: reliability.md, K13. */
export function createOwnWrites(clock: Clock): OwnWrites {
  // Maps namespace to name to writes. Two maps, because each cycle looks up a name, and a joined key would be built
  // each time.
  const namespaces = new Map<string, Map<string, readonly Write[]>>();
  let cleanedMs = clock.monotonicMs();
  const isOf = (ref: TargetRef, { group, kind }: Write): boolean =>
    group === groupOf(ref) && kind === ref.kind;
  /** Replaces the write to a target; null: removes it. */
  const replace = (namespace: string, ref: TargetRef, write: Write | null): void => {
    const named = namespaces.get(namespace) ?? new Map<string, readonly Write[]>();
    const others = (named.get(ref.name) ?? []).filter((one) => !isOf(ref, one));
    const next = write === null ? others : [...others, write];
    if (next.length === 0) named.delete(ref.name);
    else named.set(ref.name, next);
    if (named.size === 0) namespaces.delete(namespace);
    else namespaces.set(namespace, named);
  };
  /** Removes writes to targets of removed scalers, which are not looked up anymore. */
  const clean = (nowMs: number): void => {
    if (nowMs - cleanedMs < FORGET_MS) return;
    cleanedMs = nowMs;
    for (const [namespace, named] of namespaces) {
      for (const [name, writes] of named)
        if (writes.every(({ atMs }) => nowMs - atMs >= FORGET_MS)) named.delete(name);
      if (named.size === 0) namespaces.delete(namespace);
    }
  };
  return {
    remember: (namespace, ref, resourceVersion) => {
      const atMs = clock.monotonicMs();
      clean(atMs);
      replace(namespace, ref, { group: groupOf(ref), kind: ref.kind, resourceVersion, atMs });
    },
    isAheadOf: (namespace, ref, watchedVersion) => {
      const write = namespaces
        .get(namespace)
        ?.get(ref.name)
        ?.find((one) => isOf(ref, one));
      if (write === undefined) return false;
      const order = compareResourceVersions(watchedVersion, write.resourceVersion);
      const isBehind = order === null ? clock.monotonicMs() - write.atMs < INCOMPARABLE_MS : order < 0;
      if (!isBehind) replace(namespace, ref, null);
      return isBehind;
    },
  };
}
