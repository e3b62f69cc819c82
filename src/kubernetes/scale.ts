import { type LabelSelector, type TargetRef, WATCHED_KINDS } from '../scaler/spec.js';
import { countIn, objectIn, textIn, type JsonObject } from './api/json.js';
import { parseSelector } from './pods/selectors.js';
import { APPS_ROOT, nameTarget, targetKey } from './targets.js';
import { KubernetesError, orNull, type Scale, type ScalePatch } from './api/types.js';
import { MAX_REPLICAS } from '../units/bounds.js';
import type { Clock } from '../units/clock.js';
import type { ScalableKind } from './discovery.js';
import type { Transport } from './requests/transport.js';
import { compareResourceVersions } from './watch/object-store.js';

export interface ScaleWithSelector extends Scale {
  readonly selector: LabelSelector | null;
}

const DEADLINE_MS = 10_000;

/** Reads `/scale` with a live GET. Throws `KubernetesError`. */
export async function getScale(workload: WorkloadAccess): Promise<ScaleWithSelector> {
  const doing = `reading scale of ${nameTarget(workload.namespace, workload.ref)}`;
  const answer = await workload.transport.request({
    lane: 'read',
    path: `${workloadPath(workload)}/scale`,
    doing,
    verb: 'get',
    resource: `${workload.kind.plural}/scale`,
    deadlineMs: DEADLINE_MS,
    signal: workload.signal,
  });
  return readScale(answer, doing);
}

/**
 * Sends one merge-patch of `/scale` and returns the response. Throws `KubernetesError`: `conflict` if uid or
 * resourceVersion differ. Repeats the request only after a 401, with a renewed token: after `UNKNOWN_OUTCOME`, the
 * write may have been made. Throws `Error` without a request if `replicas` is not an integer from 0 to 2^31-1.
 * `isDryRun`: the server only checks the patch. Source: reliability.md, W1 and W6.
 */
export async function sendScalePatch(
  workload: WorkloadAccess,
  change: ScalePatch,
  { isDryRun }: { readonly isDryRun: boolean } = { isDryRun: false },
): Promise<ScaleWithSelector> {
  const { uid, resourceVersion, replicas } = change;
  const doing = `scaling ${nameTarget(workload.namespace, workload.ref)} to ${replicas}`;
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > MAX_REPLICAS)
    throw new Error(`${doing}: replicas must be an integer from 0 to ${MAX_REPLICAS}`);
  if (uid === '' || resourceVersion === '')
    throw new Error(`${doing}: uid and resourceVersion must be given`);
  const answer = await workload.transport.request({
    lane: 'write',
    path: `${workloadPath(workload)}/scale`,
    query: { fieldManager: 'promscaler', ...(isDryRun ? { dryRun: 'All' } : {}) },
    body: { metadata: { uid, resourceVersion }, spec: { replicas } },
    doing,
    verb: 'patch',
    resource: `${workload.kind.plural}/scale`,
    deadlineMs: DEADLINE_MS,
    signal: workload.signal,
  });
  return readScale(answer, doing);
}

/** Reads a `/scale`. A missing `spec.replicas` is read as 0, because the API server omits zeros there. */
function readScale(answer: JsonObject, doing: string): ScaleWithSelector {
  const metadata = objectIn(answer, 'metadata');
  const uid = textIn(metadata, 'uid') ?? '';
  const resourceVersion = textIn(metadata, 'resourceVersion') ?? '';
  const spec = objectIn(answer, 'spec');
  const isReplicasWrong = spec?.['replicas'] !== undefined && countIn(spec, 'replicas') === null;
  if (textIn(answer, 'kind') !== 'Scale' || uid === '' || resourceVersion === '' || isReplicasWrong)
    throw new KubernetesError('bad_answer', `${doing}: the response is not a Scale`);
  const status = objectIn(answer, 'status');
  const selector = textIn(status, 'selector');
  return {
    uid,
    resourceVersion,
    specReplicas: countIn(spec, 'replicas') ?? 0,
    statusReplicas: countIn(status, 'replicas') ?? 0,
    selector: selector === null ? null : parseSelector(selector),
  };
}

export interface WorkloadAccess {
  readonly transport: Transport;
  readonly kind: ScalableKind;
  readonly namespace: string;
  readonly ref: TargetRef;
  readonly signal: AbortSignal;
}

/** Returns the API path of a workload, such as `/apis/apps/v1/namespaces/shop/deployments/web`. */
export function workloadPath({
  kind,
  namespace,
  ref,
}: Pick<WorkloadAccess, 'kind' | 'namespace' | 'ref'>): string {
  return `${kind.root}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}/${encodeURIComponent(ref.name)}`;
}

/**
 * Returns the target with the same name and another watched kind; null: there is none, or it cannot be read. Each
 * request ends after `deadlineMs`.
 */
export async function findOtherKind(
  { ref, ...where }: Omit<WorkloadAccess, 'kind'>,
  deadlineMs: number,
): Promise<TargetRef | null> {
  for (const [kind, plural] of Object.entries(WATCHED_KINDS)) {
    if (kind === ref.kind) continue;
    const other = { ...ref, apiVersion: 'apps/v1', kind };
    const workload = { ...where, ref: other, kind: { root: APPS_ROOT, plural } };
    if ((await orNull(() => readWorkload(workload, deadlineMs))) !== null) return other;
  }
  return null;
}

export function readWorkload(workload: WorkloadAccess, deadlineMs: number): Promise<JsonObject> {
  const { transport, kind, namespace, ref, signal } = workload;
  return transport.request({
    lane: 'read',
    path: workloadPath(workload),
    doing: `reading ${nameTarget(namespace, ref)}`,
    verb: 'get',
    resource: kind.plural,
    deadlineMs,
    signal,
  });
}

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
      // Returns before a key is built, because the map is nearly always empty.
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
