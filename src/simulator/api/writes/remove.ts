import { type JsonObject, numberAt, objectAt, stringAt } from '../../kinds/json.js';
import type { ApiContext } from '../requests/request.js';
import { type KubeObject, timestamp, withMetadata } from '../../objects/kube-object.js';
import { type Addressed, checkDeletion, nameOf } from '../../objects/preconditions.js';
import { notFound } from '../../objects/status-error.js';

interface Removed {
  readonly object: KubeObject;
  readonly isMarked: boolean;
}

/**
 * Deletes an object if the preconditions of the DeleteOptions hold. Some objects only get a deletionTimestamp and are
 * removed later: a pod with an owner and a grace period, a namespace, and an object with finalizers.
 */
export function deleteObject(
  context: ApiContext,
  target: Addressed,
  options: JsonObject,
  isDryRun = false,
): Removed {
  const { store, clock } = context;
  const { resource, namespace, name } = target;
  const current = store.get(resource.storage, namespace, name);
  if (current === null) throw notFound(nameOf(target));
  checkDeletion(target, current, options);
  const graceSeconds = graceOf(resource.kind, current, options);
  const isMarked = isKeptForNow(current, graceSeconds);
  const isAlready = current.metadata['deletionTimestamp'] !== undefined;
  const dated = isAlready && isMarked ? current : marked(current, clock.now(), graceSeconds);
  if (isDryRun) return { object: dated, isMarked };
  if (isMarked) return { object: isAlready ? current : store.put(resource.storage, dated), isMarked };
  const removed = store.remove(resource.storage, namespace, name) ?? current;
  const { resourceVersion } = removed.metadata;
  return { object: withMetadata(dated, { resourceVersion }), isMarked };
}

/**
 * Returns the grace period in seconds; null: the kind has no grace period. Default for a pod that is not scheduled: 0.
 */
function graceOf(kind: string, current: KubeObject, options: JsonObject): number | null {
  if (kind !== 'Pod') return null;
  const isRunning = (stringAt(current, 'spec', 'nodeName') ?? '') !== '';
  const own = numberAt(current, 'spec', 'terminationGracePeriodSeconds') ?? 30;
  return numberAt(options, 'gracePeriodSeconds') ?? (isRunning ? own : 0);
}

function isKeptForNow(current: KubeObject, graceSeconds: number | null): boolean {
  if (current.kind === 'Namespace') return true;
  if (current.kind === 'Pod' && current.metadata['ownerReferences'] !== undefined) return graceSeconds !== 0;
  const { finalizers } = current.metadata;
  return Array.isArray(finalizers) && finalizers.length > 0;
}

function marked(current: KubeObject, nowMs: number, graceSeconds: number | null): KubeObject {
  const grace = graceSeconds === null ? {} : { deletionGracePeriodSeconds: graceSeconds };
  const { generation } = current.metadata;
  const counted = generation === undefined ? {} : { generation: generation + 1 };
  const dated = withMetadata(current, { deletionTimestamp: timestamp(nowMs), ...grace, ...counted });
  if (current.kind !== 'Namespace') return dated;
  return { ...dated, status: { ...objectAt(current, 'status'), phase: 'Terminating' } };
}
