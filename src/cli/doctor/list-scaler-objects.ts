import {
  readScalerObject,
  SCALER_PLURAL,
  SCALER_ROOT,
} from '../../kubernetes/scaler-objects/scaler-object.js';
import { createScalerStore, type ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { withDeadline } from '../../units/clock.js';
import type { Inquiry } from './inquiry.js';
import { openCluster } from './open-cluster.js';

const DEADLINE_MS = 10_000;

/**
 * The documents of the cluster, where the config says that there are any; null: it does not. What cannot be listed is
 * left out: the checks of the cluster say why.
 */
export async function listScalerObjects(
  asked: Omit<Inquiry, 'scalers'> & {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly home: string | null;
  },
): Promise<ScalerStore | null> {
  if (!asked.config.scalers.customResources) return null;
  const store = createScalerStore(asked.config.kubernetes.namespaces);
  const opened = await openCluster({ ...asked, scalers: [] });
  if ('status' in opened) return store;
  const { transport } = opened.inquiry;
  await withDeadline(asked.clock, { ms: DEADLINE_MS, parent: asked.signal }, async (signal) => {
    for (const scope of store.scopes) {
      try {
        const resource = resourceScope(SCALER_ROOT, SCALER_PLURAL, scope.namespace);
        const { items } = await listAll({ transport, scope: resource, convert: readScalerObject, signal });
        scope.store.replace(items);
      } catch (error) {
        if (!(error instanceof KubernetesError)) throw error;
      }
    }
  });
  opened.close();
  return store;
}
