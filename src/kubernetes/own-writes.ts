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
  readonly resourceVersion: string;
  readonly atMs: number;
}

/** Source: reliability.md, K13. */
export function createOwnWrites(clock: Clock): OwnWrites {
  /** The oldest first. */
  const writes = new Map<string, Write>();
  const keyOf = (namespace: string, ref: TargetRef): string =>
    `${namespace}/${groupOf(ref)}/${ref.kind}/${ref.name}`;
  return {
    remember: (namespace, ref, resourceVersion) => {
      const atMs = clock.monotonicMs();
      // Targets of removed scalers are not looked up anymore.
      for (const [key, write] of writes) {
        if (atMs - write.atMs < FORGET_MS) break;
        writes.delete(key);
      }
      const key = keyOf(namespace, ref);
      writes.delete(key);
      writes.set(key, { resourceVersion, atMs });
    },
    isAheadOf: (namespace, ref, watchedVersion) => {
      // Nearly always: no key is built.
      if (writes.size === 0) return false;
      const key = keyOf(namespace, ref);
      const write = writes.get(key);
      if (write === undefined) return false;
      const order = compareResourceVersions(watchedVersion, write.resourceVersion);
      const isBehind = order === null ? clock.monotonicMs() - write.atMs < INCOMPARABLE_MS : order < 0;
      if (!isBehind) writes.delete(key);
      return isBehind;
    },
  };
}
