import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { compareResourceVersions } from './watch/object-store.js';
import { targetKey } from './targets.js';

/** The PATCHes of this process that the watch may not have reported yet. */
interface OwnWrites {
  readonly remember: (namespace: string, ref: TargetRef, resourceVersion: string) => void;
  /** Returns whether the watched object is older than the last PATCH, so that its replicas are outdated. */
  readonly isAheadOf: (namespace: string, ref: TargetRef, watchedVersion: string) => boolean;
}

/** If the versions cannot be compared, the watched object counts as current this long after the PATCH. */
const INCOMPARABLE_MS = 60_000;
/** How long a PATCH is remembered. A watch that is behind for longer has been restarted by then (K12). */
const FORGET_MS = 3_600_000;

interface Write {
  readonly resourceVersion: string;
  readonly atMs: number;
}

/** Creates the record of own PATCHes. Source: reliability.md, K13. */
export function createOwnWrites(clock: Clock): OwnWrites {
  /** The PATCHes by target, oldest first. */
  const writes = new Map<string, Write>();
  return {
    remember: (namespace, ref, resourceVersion) => {
      const atMs = clock.monotonicMs();
      // Removes old PATCHes, because `isAheadOf` is no longer called for the targets of removed scalers.
      for (const [key, write] of writes) {
        if (atMs - write.atMs < FORGET_MS) break;
        writes.delete(key);
      }
      const key = targetKey(namespace, ref);
      writes.delete(key);
      writes.set(key, { resourceVersion, atMs });
    },
    isAheadOf: (namespace, ref, watchedVersion) => {
      // For speed: the map is nearly always empty, so no key has to be built.
      if (writes.size === 0) return false;
      const key = targetKey(namespace, ref);
      const write = writes.get(key);
      if (write === undefined) return false;
      const order = compareResourceVersions(watchedVersion, write.resourceVersion);
      const isBehind = order === null ? clock.monotonicMs() - write.atMs < INCOMPARABLE_MS : order < 0;
      if (!isBehind) writes.delete(key);
      return isBehind;
    },
  };
}
