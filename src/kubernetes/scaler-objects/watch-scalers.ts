import type { Clock } from '../../units/clock.js';
import type { Log } from '../../units/log.js';
import type { Transport } from '../requests/transport.js';
import type { KubernetesError } from '../types.js';
import { resourceScope } from '../watch/list-pages.js';
import { createReflector, type Reflector } from '../watch/reflector.js';
import { readScalerObject, SCALER_PLURAL, SCALER_ROOT } from './scaler-object.js';
import type { ScalerStore } from './scaler-store.js';

/** The watches that keep a store of scaler objects. */
export interface ScalerWatch {
  /** Lists and watches until `signal` is aborted; never rejects. What fails is told once, and tried again for ever. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Every scope has been listed, or could not be. */
  readonly isSettled: () => boolean;
}

export interface ScalerWatchOptions {
  readonly store: ScalerStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the watches; nothing is asked before `run`. */
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

/** The line that mends a list or watch of scalers; null for what only time mends. */
export function fixForScalerWatch({ kind }: Pick<KubernetesError, 'kind'>): string | null {
  switch (kind) {
    case 'not_found':
      return 'the CRD scalers.promscaler.dev is not installed: chart value crd.enabled: true, or scalers.customResources: false; it is looked for again every few minutes';
    case 'forbidden':
      return 'chart values crd.enabled: true and rbac.create: true: list and watch of scalers in promscaler.dev; it is tried again every few minutes';
    default:
      return null;
  }
}
