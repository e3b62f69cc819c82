import { KubernetesError } from '../kubernetes/types.js';
import type { Cluster, KubernetesErrorKind, Scale, ScaleTarget } from '../kubernetes/types.js';

/** A change of the target's count that a decision asks for. */
export interface ScaleChange {
  readonly target: ScaleTarget;
  readonly from: number;
  readonly to: number;
  /** Asked just before each PATCH, since the read before it may have taken seconds. Left out: always. */
  readonly isAllowed?: () => boolean;
}

export type ScaleResult =
  /** The server answered with the count now in force; other than asked for where an admission webhook changed it. */
  | { readonly kind: 'patched'; readonly replicas: number }
  /** Somebody else has changed the count since the decision, or the target is another object of that name. */
  | {
      readonly kind: 'moved';
      readonly message: string;
      readonly specReplicas: number;
      readonly statusReplicas: number;
      readonly resourceVersion: string;
    }
  | { readonly kind: 'recreated'; readonly message: string }
  /** `unresolved`: the resourceVersion of a PATCH that may have gone through all the same; null: there is none. */
  | { readonly kind: 'failed'; readonly message: string; readonly unresolved: string | null };

/** How often a PATCH is tried again when nothing but the resourceVersion has moved. */
const MAX_RETRIES = 3;

const UNKNOWN_OUTCOME: readonly KubernetesErrorKind[] = [
  'timeout',
  'connection',
  'server_error',
  'bad_answer',
  'canceled',
];

/**
 * Sets the replicas of a target: a live read, then one merge-patch with the uid and resourceVersion read. Patches
 * nothing where the live count is not the one that the decision started from; a conflict is read anew, never sent
 * again as it was. Null where the change is not allowed any more: nothing has come of it. Throws on a count that is no
 * count: that is our own fault and must not reach the server.
 */
export async function changeReplicas(
  cluster: Cluster,
  change: ScaleChange,
  signal: AbortSignal,
): Promise<ScaleResult | null> {
  assertCount(change.to);
  const { target, from, to } = change;
  let sent: string | null = null;
  try {
    for (let attempt = 0; attempt <= MAX_RETRIES; attempt += 1) {
      const scale = await cluster.readScale(target.namespace, target.ref, signal);
      const moved = whatMoved(target, from, scale);
      if (moved !== null) return moved;
      if (change.isAllowed?.() === false) return null;
      const { uid, resourceVersion } = scale;
      sent = resourceVersion;
      const answer = await tryPatch(cluster, target, { uid, resourceVersion, replicas: to }, signal);
      if (answer !== null) return { kind: 'patched', replicas: answer };
      sent = null;
    }
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const unresolved = UNKNOWN_OUTCOME.includes(error.kind) ? sent : null;
    return { kind: 'failed', message: error.message, unresolved };
  }
  const message = `the target changed ${MAX_RETRIES + 1} times while its replicas were to be set`;
  return { kind: 'failed', message, unresolved: null };
}

function assertCount(replicas: number): void {
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > 2_147_483_647) {
    throw new Error(`a replica count must be an integer from 0 to 2147483647, not ${replicas}`);
  }
}

function whatMoved(target: ScaleTarget, from: number, scale: Scale): ScaleResult | null {
  if (scale.uid !== target.uid) {
    return { kind: 'recreated', message: 'the target was deleted and created anew' };
  }
  if (scale.specReplicas === from) return null;
  const { specReplicas, statusReplicas, resourceVersion } = scale;
  const message = `replicas are ${specReplicas} by now, the decision started from ${from}`;
  return { kind: 'moved', message, specReplicas, statusReplicas, resourceVersion };
}

/** The count that the server answers with, or null where a precondition did not hold. */
async function tryPatch(
  cluster: Cluster,
  { namespace, ref }: ScaleTarget,
  change: { readonly uid: string; readonly resourceVersion: string; readonly replicas: number },
  signal: AbortSignal,
): Promise<number | null> {
  try {
    const scale = await cluster.patchScale(namespace, ref, change, signal);
    return scale.specReplicas;
  } catch (error) {
    if (error instanceof KubernetesError && error.kind === 'conflict') return null;
    throw error;
  }
}
