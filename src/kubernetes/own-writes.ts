import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { compareResourceVersions } from './resource-version.js';
import { groupOf } from './targets.js';

/** Own PATCHes that the watch may not have shown yet. */
export interface OwnWrites {
  /** Records the resourceVersion of the response to a PATCH. */
  readonly remember: (namespace: string, ref: TargetRef, resourceVersion: string) => void;
  /** Whether the watched version is older than our last write, and so has outdated replicas. */
  readonly isAheadOf: (namespace: string, ref: TargetRef, watchedVersion: string) => boolean;
}

/** After this time a version that cannot be compared counts as arrived. */
const INCOMPARABLE_MS = 60_000;

/** Source: reliability.md, K13. */
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
