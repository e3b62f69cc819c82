import { type JsonObject, objectAt, stringAt } from '../json.js';
import type { ApiContext } from './context.js';
import { type KubeObject, timestamp, withMetadata } from './objects.js';
import type { Target } from './write.js';
import { conflict, notFound, uidConflict } from './status-error.js';

/**
 * Deletes an object, if the preconditions of the DeleteOptions hold. A pod that a workload owns is only marked: its
 * controller ends it after a moment. A namespace is marked, too, and goes when everything in it is gone.
 */
export function deleteObject(context: ApiContext, target: Target, options: JsonObject): KubeObject {
  const { store, clock } = context;
  const { resource, namespace, name } = target;
  const identity = { resource: resource.plural, group: resource.group, name };
  const current = store.get(resource.storage, namespace, name);
  if (current === null) throw notFound(identity);
  const uid = stringAt(options, 'preconditions', 'uid');
  if (uid !== null && uid !== current.metadata.uid) throw uidConflict(identity, uid, current.metadata.uid);
  const version = stringAt(options, 'preconditions', 'resourceVersion');
  if (version !== null && version !== current.metadata.resourceVersion) throw conflict(identity);
  if (resource.kind === 'Pod' && current.metadata['ownerReferences'] !== undefined) {
    if (current.metadata['deletionTimestamp'] !== undefined) return current;
    const marked = { deletionTimestamp: timestamp(clock.now()), deletionGracePeriodSeconds: 30 };
    return store.put(resource.storage, withMetadata(current, marked));
  }
  if (resource.kind === 'Namespace') {
    if (current.metadata['deletionTimestamp'] !== undefined) return current;
    const marked = withMetadata(current, { deletionTimestamp: timestamp(clock.now()) });
    const status = { ...objectAt(current, 'status'), phase: 'Terminating' };
    return store.put(resource.storage, { ...marked, status });
  }
  return store.remove(resource.storage, namespace, name) ?? current;
}
