import {
  readScalerObject,
  SCALER_PLURAL,
  SCALER_ROOT,
} from '../../kubernetes/scaler-objects/scaler-object.js';
import { createScalerStore, type ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { withDeadline } from '../../units/clock.js';
import type { DoctorContext } from './context/context.js';
import { openCluster } from './context/open-cluster.js';

const DEADLINE_MS = 10_000;

/**
 * Returns null if `scalers.customResources` is off. Skips namespaces that cannot be listed; the check
 * `custom-resources` reports them.
 */
export async function listScalerObjects(
  context: Omit<DoctorContext, 'scalers'> & {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly home: string | null;
  },
): Promise<ScalerStore | null> {
  if (!context.config.scalers.customResources) return null;
  const store = createScalerStore(context.config.kubernetes.namespaces);
  const opened = await openCluster({ ...context, scalers: [] });
  if ('status' in opened) return store;
  const { transport } = opened.context;
  await withDeadline(context.clock, { ms: DEADLINE_MS, parent: context.signal }, async (signal) => {
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
