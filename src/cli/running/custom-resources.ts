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

/** Scaler objects. Every replica watches them; the leader, or with sharding the owner, writes their status. */
export interface CustomResources {
  readonly setVerdicts: (verdicts: ReadonlyMap<string, ObjectVerdict>) => void;
  /** Lists and watches objects until `signal` is aborted. Never rejects. */
  readonly watch: (signal: AbortSignal) => Promise<void>;
  readonly writeStatuses: (signal: AbortSignal) => Promise<void>;
  /** Reasons why the service is not ready. A missing CRD is not one of them. */
  readonly waitingFor: () => readonly string[];
}

interface CustomResourcesOptions {
  /** Null: Scaler objects are disabled. */
  readonly store: ScalerStore | null;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly lastOf: (key: string) => ScalerStatus | null;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  /** Whether this process writes the status of an object. Default: always true. */
  readonly isOwn?: (key: string) => boolean;
  /** Also disables status writes, because another service may write the status. */
  readonly dryRun: boolean;
}

export function createCustomResources({ store, ...options }: CustomResourcesOptions): CustomResources {
  if (store === null) return NONE;
  const { transport, clock, log, dryRun, isOwn = () => true } = options;
  let verdicts: ReadonlyMap<string, ObjectVerdict> = new Map();
  const watch = createScalerWatch({ store, transport, clock, log });
  const statusPorts = {
    ...options,
    store,
    verdictOf: (key: string) => (isOwn(key) ? (verdicts.get(key) ?? null) : null),
    patch: (change: Parameters<typeof patchScalerStatus>[1], signal: AbortSignal) =>
      patchScalerStatus(transport, change, signal),
  };
  return {
    setVerdicts: (next) => {
      verdicts = next;
    },
    watch: watch.run,
    writeStatuses: (signal) => (dryRun ? Promise.resolve() : writeStatuses(statusPorts, signal)),
    waitingFor: () => (watch.isSettled() ? [] : ['Scaler objects are not listed yet']),
  };
}

const nothing = (): Promise<void> => Promise.resolve();
const NONE: CustomResources = {
  setVerdicts: () => undefined,
  watch: nothing,
  writeStatuses: nothing,
  waitingFor: () => [],
};
