import {
  readScalerObject,
  SCALER_PLURAL,
  SCALER_ROOT,
  createScalerStore,
  type ScalerStore,
} from '../../kubernetes/scaler-objects.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { withDeadline } from '../../units/clock.js';
import { createScalerFiles } from '../../config/scaler-files.js';
import type { Scaler } from '../../scaler/spec.js';
import { readOptionsOf } from '../input/service-config.js';
import { CLUSTER_SUBJECT, type DoctorContext } from './context.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { openCluster } from './cluster.js';

const DEADLINE_MS = 10_000;

type ListContext = Omit<DoctorContext, 'scalers'> & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
};

/**
 * Lists the Scaler objects; null: `scalers.customResources` is off. Skips a namespace that cannot be listed, which the
 * check `custom-resources` reports.
 */
export async function listScalerObjects(
  context: ListContext,
  onFailure: (error: KubernetesError) => void = () => undefined,
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
        onFailure(error);
      }
    }
  });
  opened.close();
  return store;
}

/**
 * Reads the existing Scaler objects of all watched namespaces, or, if listing those is forbidden, of the namespaces of
 * the documents. Empty: the cluster does not have the CRD.
 */
export async function readOtherScalers(
  scalers: readonly Scaler[],
  context: ListContext,
): Promise<{ readonly others: readonly Scaler[]; readonly results: readonly CheckResult[] }> {
  const { config, clock } = context;
  const list = async (namespaces: readonly string[]) => {
    const failures: KubernetesError[] = [];
    const kubernetes = { ...config.kubernetes, namespaces };
    const scalersConfig = { ...config.scalers, customResources: scalers.length > 0 };
    const narrowed = { ...context, config: { ...config, kubernetes, scalers: scalersConfig } };
    return { objects: await listScalerObjects(narrowed, (failure) => failures.push(failure)), failures };
  };
  const own = new Set(scalers.map(({ namespace }) => namespace));
  const { namespaces: watched } = config.kubernetes;
  let { objects, failures } = await list(watched.length === 0 ? [] : [...new Set([...watched, ...own])]);
  if (failures.some(({ kind }) => kind === 'forbidden')) ({ objects, failures } = await list([...own]));
  const results = failures
    .filter(({ kind }) => kind !== 'not_found')
    .map(({ message }) =>
      resultsOf('other-scaler', CLUSTER_SUBJECT).skipped(
        `Scaler objects on the same targets are not detected: ${message}`,
      ),
    );
  if (objects === null) return { others: [], results };
  const loaded = await createScalerFiles({ paths: [], clock, read: readOptionsOf(config), objects }).load();
  const keys = new Set(scalers.map(({ key }) => key));
  return { others: loaded.scalers.filter(({ key }) => !keys.has(key)), results };
}
