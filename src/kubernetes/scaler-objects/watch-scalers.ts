import type { Clock } from '../../units/clock.js';
import type { Log } from '../../units/log.js';
import type { Transport } from '../requests/transport.js';
import type { KubernetesError } from '../api/types.js';
import { resourceScope } from '../watch/list-pages.js';
import { createReflector, type Reflector } from '../watch/reflector.js';
import { readScalerObject, SCALER_PLURAL, SCALER_ROOT } from './scaler-object.js';
import type { ScalerStore } from './scaler-store.js';

export interface ScalerWatch {
  /** Lists and watches until `signal` is aborted. Logs a failure once and keeps retrying; never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly isSettled: () => boolean;
}

interface ScalerWatchOptions {
  readonly store: ScalerStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

export function createScalerWatch({ store, ...ports }: ScalerWatchOptions): ScalerWatch {
  const reflectors: readonly Reflector[] = store.scopes.map((scope) =>
    createReflector({
      ...ports,
      scope: resourceScope(SCALER_ROOT, SCALER_PLURAL, scope.namespace),
      store: scope.store,
      convert: readScalerObject,
      fixFor: fixForScalerWatch,
    }),
  );
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
    isSettled: () => reflectors.every((reflector) => reflector.isSynced() || reflector.failure() !== null),
  };
}

export function fixForScalerWatch({ kind }: Pick<KubernetesError, 'kind'>): string | null {
  switch (kind) {
    case 'not_found':
      return 'the CRD scalers.promscaler.dev is not installed: set the chart value crd.enabled: true, or scalers.customResources: false; the list is retried every few minutes';
    case 'forbidden':
      return 'set the chart values crd.enabled: true and rbac.create: true (list and watch of scalers in promscaler.dev); the list is retried every few minutes';
    default:
      return null;
  }
}
