import { textIn } from '../kubernetes/api/json.js';
import type { ObjectVerdict } from '../config/read-objects.js';
import type { CycleReportPorts } from '../control/cycle/types.js';
import type { Leadership } from '../control/election/leadership.js';
import { pollStatuses } from '../control/status/status-writer.js';
import type { Cluster, EventObject, TargetEvent } from '../kubernetes/api/types.js';
import { type Scaler, scalerKey } from '../scaler/spec.js';
import type { Transport } from '../kubernetes/requests/transport.js';
import {
  patchScalerStatus,
  SCALER_GROUP,
  type ScalerObject,
  type ScalerStore,
  createScalerWatch,
} from '../kubernetes/scaler-objects.js';
import type { LedgerEntry } from '../telemetry/ledger.js';
import type { Records } from '../telemetry/records.js';
import type { Instant } from '../units/time.js';
import { countErrors } from '../scaler/problems/problem.js';
import type { Generations } from '../decision/rejection.js';
import type { Log } from '../units/log.js';
import type { Clock } from '../units/clock.js';

/**
 * The Scaler objects. Every replica watches them. The leader, or with sharding the owner of a scaler, writes their
 * status.
 */
interface CustomResources {
  readonly setVerdicts: (verdicts: ReadonlyMap<string, ObjectVerdict>) => void;
  /** Lists and watches the objects until `signal` is aborted. Never rejects. */
  readonly watch: (signal: AbortSignal) => Promise<void>;
  readonly pollStatuses: (signal: AbortSignal) => Promise<void>;
  /** Returns the object whose document is in effect for NAMESPACE/NAME; null: that document is in a file. */
  readonly eventObject: (key: string) => EventObject | null;
  /** Returns the generation of a scaler's object that is in effect, and its newest generation; null: unknown. */
  readonly generationsOf: (scaler: Scaler) => Generations;
  /** Returns the value of a label of the Scaler object; null: there is no such label or object. */
  readonly labelOf: (scaler: Scaler, label: string) => string | null;
  /**
   * Returns a sentence for each reason why the service is not ready; empty: it is ready. A missing CRD is not a reason.
   */
  readonly waitingFor: () => readonly string[];
}

interface CustomResourcesOptions {
  /** The store of the objects; null: Scaler objects are disabled. */
  readonly store: ScalerStore | null;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly lastOf: (key: string) => LedgerEntry | null;
  readonly rejectedSince: (key: string) => Instant | null;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  readonly recordEvent: (object: EventObject, event: TargetEvent) => void;
  /** Returns whether this process writes the status of an object. */
  readonly isOwn: (key: string) => boolean;
  /** The dry run of the service. It also disables status writes, because another service may write the status. */
  readonly dryRun: boolean;
}

export function createCustomResources({ store, ...options }: CustomResourcesOptions): CustomResources {
  if (store === null) return NONE;
  const { transport, clock, log, dryRun, isOwn } = options;
  let verdicts: ReadonlyMap<string, ObjectVerdict> = new Map();
  const generations = new WeakMap<Scaler, number>();
  const watch = createScalerWatch({ store, transport, clock, log });
  const statusPorts = {
    ...options,
    store,
    verdictOf: (key: string) => (isOwn(key) ? (verdicts.get(key) ?? null) : null),
    patch: (change: Parameters<typeof patchScalerStatus>[1], signal: AbortSignal) =>
      patchScalerStatus(transport, change, signal),
    recordEvent: (object: ScalerObject, event: TargetEvent) => {
      options.recordEvent(eventObjectOf(object), event);
    },
  };
  return {
    setVerdicts: (next) => {
      verdicts = next;
      for (const object of store.list()) {
        const verdict = next.get(scalerKey(object));
        const isInEffect = verdict?.specText === object.specText && countErrors(verdict.problems) === 0;
        if (isInEffect && verdict.scaler !== null) generations.set(verdict.scaler, object.generation);
      }
    },
    generationsOf: (scaler) => ({
      generation: generations.get(scaler) ?? null,
      newestGeneration: store.get(scaler.namespace, scaler.name)?.generation ?? null,
    }),
    labelOf: ({ namespace, name }, label) => textIn(store.get(namespace, name)?.labels ?? null, label),
    watch: watch.run,
    pollStatuses: (signal) => (dryRun ? Promise.resolve() : pollStatuses(statusPorts, signal)),
    eventObject: (key) => {
      const verdict = verdicts.get(key);
      const scaler = verdict?.scaler ?? null;
      const object = scaler === null ? null : store.get(scaler.namespace, scaler.name);
      return object === null ? null : eventObjectOf(object);
    },
    waitingFor: () => (watch.isSettled() ? [] : ['Scaler objects are not listed yet']),
  };
}

function eventObjectOf(object: ScalerObject): EventObject {
  return { ...object, ref: { apiVersion: `${SCALER_GROUP}/v1`, kind: 'Scaler', name: object.name } };
}

interface EventParts {
  readonly cluster: Pick<Cluster, 'recordEvent'>;
  readonly resources: Pick<CustomResources, 'eventObject'>;
  readonly records: Pick<Records, 'ledger' | 'sentEvents'>;
  readonly clock: Clock;
}

/** Returns the function that sends the Events of a scaler: one for its target, and one for its Scaler object. */
export function createEventSender({
  cluster,
  resources,
  records,
  clock,
}: EventParts): CycleReportPorts['sendEvent'] {
  const { ledger, sentEvents } = records;
  return (target, event, scaler) => {
    const onWritten = (): void => {
      // A scaler that was removed has no record. Its Events were removed with it, so no new Event is added.
      if (ledger.get(scaler) !== null) sentEvents.add(scaler, { ...event, at: clock.now() });
    };
    if (target !== null) cluster.recordEvent(target, event, onWritten);
    const object = resources.eventObject(scaler);
    if (object !== null) cluster.recordEvent(object, event, target === null ? onWritten : undefined);
  };
}

const nothing = (): Promise<void> => Promise.resolve();
const NONE: CustomResources = {
  setVerdicts: () => undefined,
  watch: nothing,
  pollStatuses: nothing,
  eventObject: () => null,
  generationsOf: () => ({ generation: null, newestGeneration: null }),
  labelOf: () => null,
  waitingFor: () => [],
};
