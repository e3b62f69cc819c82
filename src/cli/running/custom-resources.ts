import type { ObjectVerdict } from '../../config/add-objects.js';
import type { Leadership } from '../../control/election/leadership.js';
import { writeStatuses } from '../../control/status/status-writer.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import { patchScalerStatus } from '../../kubernetes/scaler-objects/patch-status.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { createScalerWatch } from '../../kubernetes/scaler-objects/watch-scalers.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';

import type { Log } from '../../units/log.js';
import type { Clock } from '../../units/clock.js';

/** Documents that are objects of the cluster: seen by every replica, told of by the one that leads. */
export interface CustomResources {
  /** What became of each object, by `NAMESPACE/NAME`. */
  readonly setVerdicts: (verdicts: ReadonlyMap<string, ObjectVerdict>) => void;
  /** Lists and watches them until `signal` is aborted; never rejects. */
  readonly watch: (signal: AbortSignal) => Promise<void>;
  /** Keeps their status for one term; never rejects. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  /** What is not there yet, for the probe of readiness. A CRD that is not installed is not waited for. */
  readonly waitingFor: () => readonly string[];
}

export interface CustomResourcesOptions {
  /** Null: there are none. */
  readonly store: ScalerStore | null;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly lastOf: (key: string) => ScalerStatus | null;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  /** Nothing is patched, no status either: another service may be at work on the same objects. */
  readonly dryRun: boolean;
}

/** Puts the parts for scaler objects together; where there is no store they do nothing. */
export function createCustomResources({ store, ...options }: CustomResourcesOptions): CustomResources {
  if (store === null) return NONE;
  const { transport, clock, log, dryRun } = options;
  let verdicts: ReadonlyMap<string, ObjectVerdict> = new Map();
  const watch = createScalerWatch({ store, transport, clock, log });
  const writing = {
    ...options,
    store,
    verdictOf: (key: string) => verdicts.get(key) ?? null,
    patch: (change: Parameters<typeof patchScalerStatus>[1], signal: AbortSignal) =>
      patchScalerStatus(transport, change, signal),
  };
  return {
    setVerdicts: (next) => {
      verdicts = next;
    },
    watch: watch.run,
    lead: (signal) => (dryRun ? Promise.resolve() : writeStatuses(writing, signal)),
    waitingFor: () => (watch.isSettled() ? [] : ['the scalers of the cluster have not been listed yet']),
  };
}

const nothing = (): Promise<void> => Promise.resolve();
const NONE: CustomResources = {
  setVerdicts: () => undefined,
  watch: nothing,
  lead: nothing,
  waitingFor: () => [],
};
