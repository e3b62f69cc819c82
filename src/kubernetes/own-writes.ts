import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { compareResourceVersions } from './resource-version.js';
import { groupOf } from './targets.js';

/** What was written and has perhaps not come back over the watch yet. */
export interface OwnWrites {
  /** A PATCH was answered with this version. */
  readonly remember: (namespace: string, ref: TargetRef, resourceVersion: string) => void;
  /** The watched version is older than our own write: it would show the replicas of before. */
  readonly isAheadOf: (namespace: string, ref: TargetRef, watchedVersion: string) => boolean;
}

/** After that long a version that cannot be compared is taken to have arrived. */
const INCOMPARABLE_MS = 60_000;

/** Empty at the start. Source: reliability.md, K13. */
export function createOwnWrites(clock: Clock): OwnWrites {
  const writes = new Map<string, { readonly resourceVersion: string; readonly atMs: number }>();
  const keyOf = (namespace: string, ref: TargetRef): string =>
    `${groupOf(ref)}/${ref.kind}/${namespace}/${ref.name}`;
  return {
    remember: (namespace, ref, resourceVersion) =>
      void writes.set(keyOf(namespace, ref), { resourceVersion, atMs: clock.monotonicMs() }),
    isAheadOf: (namespace, ref, watchedVersion) => {
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
