import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { compareResourceVersions } from './api/resource-version.js';
import { groupOf } from './targets.js';

/** PATCHes of this process that the watch may not have reported yet. */
interface OwnWrites {
  readonly remember: (namespace: string, ref: TargetRef, resourceVersion: string) => void;
  /** Whether the watched object is older than the last PATCH, so that its replicas are outdated. */
  readonly isAheadOf: (namespace: string, ref: TargetRef, watchedVersion: string) => boolean;
}

/** After this time, a watched version that cannot be compared counts as current. */
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
