import type { ObjectVerdict } from '../../config/object-set.js';
import type { JsonObject } from '../../kubernetes/json.js';
import { createBackoff } from '../../kubernetes/requests/backoff.js';
import { rateLimitMs } from '../../kubernetes/requests/rate-limit.js';
import { createRefusals, type Refusals } from '../../kubernetes/requests/refusals.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects/scaler-object.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import type { Log } from '../../units/log.js';
import { sleep } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import type { Leadership } from '../election/leadership.js';
import { createDueStatuses } from './due-statuses.js';
import type { DueStatus } from './due-statuses.js';
import { statusPatch } from './object-status.js';

export interface StatusWriterPorts {
  readonly store: Pick<ScalerStore, 'list' | 'remember'>;
  readonly verdictOf: (key: string) => ObjectVerdict | null;
  readonly lastOf: (key: string) => ScalerStatus | null;
  /** One PATCH, answered with the object as it is then; throws `KubernetesError`. */
  readonly patch: (
    change: { readonly object: ScalerObject; readonly status: JsonObject },
    signal: AbortSignal,
  ) => Promise<ScalerObject>;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** From one pass over all objects to the next. */
const PASS_MS = 2000;
/** In one pass; the most urgent ones, of those the ones that have waited longest. */
const MAX_WRITES = 10;
/** Without the right to write there is no hurry to try again. */
const FORBIDDEN_MS = 300_000;
/** One that the server will not have as it is. */
const REFUSED_MS = 300_000;
/** What nobody has foreseen must end neither the term nor the log. */
const FAULT_MS = 60_000;
/** One that has changed or gone meanwhile: the watch will tell, this is for the case that it does not. */
const OUTDATED_MS = 10_000;

/**
 * Keeps the status of scaler objects true, from when it is run until `signal` is aborted: the work of a leader, for one
 * term. It asks nothing while nothing changes, and never rejects; what could not be written is found again by the next
 * pass, of this process or of another one.
 */
export async function writeStatuses(ports: StatusWriterPorts, signal: AbortSignal): Promise<void> {
  const { clock } = ports;
  const due = createDueStatuses(ports);
  const backoff = createBackoff(clock, PASS_MS);
  const told = new Set<string>();
  const refusals = new Map<string, Refusals>();
  const refusalsOf = (namespace: string): Refusals => {
    const known = refusals.get(namespace) ?? createRefusals(clock);
    refusals.set(namespace, known);
    return known;
  };
  const mayGoOn = (): boolean => !signal.aborted && ports.leadership.mayWrite();
  const pass = async (): Promise<number> => {
    for (const one of await due.next(MAX_WRITES)) {
      if (!mayGoOn()) break;
      if (due.isHeld(one.object.namespace)) continue;
      try {
        due.written(one, await writeOne(ports, one, signal));
        refusals.delete(one.object.namespace);
        // A right that is missing elsewhere is missing still.
        for (const kind of told) if (kind !== 'forbidden') told.delete(kind);
      } catch (error) {
        if (!mayGoOn()) break;
        const failure = { error, one, told, due, log: ports.log, refusals: refusalsOf(one.object.namespace) };
        const waitMs = settle(failure, () => backoff.next());
        if (waitMs > 0) return waitMs;
      }
    }
    return PASS_MS;
  };
  const passOrFault = async (): Promise<number> => {
    try {
      return await pass();
    } catch (error) {
      ports.log.error('failed to compute status of Scalers: internal error', { error });
      return FAULT_MS;
    }
  };
  for (let waitMs = PASS_MS; ; waitMs = await passOrFault()) {
    await sleep(clock, waitMs, signal);
    if (signal.aborted) return;
  }
}

async function writeOne(
  { patch, store }: StatusWriterPorts,
  { object, wanted }: DueStatus,
  signal: AbortSignal,
): Promise<ScalerObject> {
  const answer = await patch({ object, status: statusPatch(object.status, wanted) }, signal);
  store.remember(answer);
  return answer;
}

/** What a failure means for the others: milliseconds until the next pass, 0 to go on with this one. */
function settle(
  failure: {
    readonly error: unknown;
    readonly one: DueStatus;
    readonly told: Set<string>;
    readonly due: ReturnType<typeof createDueStatuses>;
    readonly log: Log;
    /** Of the object's namespace. */
    readonly refusals: Refusals;
  },
  nextWaitMs: () => number,
): number {
  const { error, one, told, due, log, refusals } = failure;
  const { namespace } = one.object;
  const kind = error instanceof KubernetesError ? error.kind : 'bad_answer';
  const tell = (mend?: string): void => {
    if (told.has(kind)) return;
    told.add(kind);
    const message = error instanceof Error ? error.message : String(error);
    log.warn('failed to write status of Scaler', {
      scaler: scalerKey(one.object),
      error: message,
      ...(mend === undefined ? {} : { mend }),
    });
  };
  if (kind !== 'forbidden') refusals.clear();
  const limitedMs = rateLimitMs(error);
  if (limitedMs !== null) return limitedMs;
  switch (kind) {
    case 'conflict':
    case 'not_found':
    case 'gone':
      due.hold(scalerKey(one.object), OUTDATED_MS);
      return 0;
    case 'forbidden':
      if (!refusals.note()) {
        due.holdNamespace(namespace, refusals.retryMs());
        return 0;
      }
      tell('chart values crd.enabled: true and rbac.create: true: patch of scalers/status in promscaler.dev');
      due.holdNamespace(namespace, FORBIDDEN_MS);
      return 0;
    case 'invalid':
    case 'bad_answer':
      tell();
      due.hold(scalerKey(one.object), REFUSED_MS);
      return 0;
    default:
      tell();
      return nextWaitMs();
  }
}
