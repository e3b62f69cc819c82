import type { ClusterState } from '../objects/cluster-state.js';
import { namespaceOf } from '../objects/kube-object.js';
import { DEFINITIONS, resourcesOf } from './definition.js';

/**
 * Serves the resources of CustomResourceDefinitions while the definitions exist. If a definition is deleted, deletes
 * its objects and calls `endWatches` with its plural. Returns a function that stops this.
 */
export function serveDefinitions(
  { store, catalog }: Pick<ClusterState, 'store' | 'catalog'>,
  endWatches: (plural: string) => void,
): () => void {
  return store.subscribe(DEFINITIONS, ({ type, object }) => {
    const [first] = resourcesOf(object);
    catalog.dropDefined(object.metadata.name);
    if (type !== 'DELETED') {
      for (const resource of resourcesOf(object)) catalog.add(resource);
      return;
    }
    if (first === undefined) return;
    for (const one of [...store.all(first.storage)])
      store.remove(first.storage, namespaceOf(one), one.metadata.name);
    endWatches(first.plural);
  });
}
