import type { JsonObject } from '../../kubernetes/api/json.js';
import {
  type Backoff,
  createBackoff,
  createRefusals,
  rateLimitMs,
  type Refusals,
} from '../../kubernetes/requests/retry.js';
import type { ScalerObject, ScalerStore } from '../../kubernetes/scaler-objects.js';
import { KubernetesError, type TargetEvent } from '../../kubernetes/api/types.js';
import { rejectionOf } from '../../decision/rejection.js';
import { scalerKey } from '../../scaler/spec.js';
import type { Log } from '../../units/log.js';
import { sleep, type Clock } from '../../units/clock.js';
import { buildEvent, isEventReason } from '../cycle/kubernetes-events.js';
import type { Leadership } from '../election/leadership.js';
import { createDueStatuses, type DueStatus, type DueStatusesPorts } from './due-statuses.js';
import { type StatusCondition, statusPatch, storedConditions } from './stored-status.js';

interface StatusWriterPorts extends DueStatusesPorts {
  readonly store: Pick<ScalerStore, 'list' | 'remember'>;
  /** Sends one PATCH and returns the object in the response; throws `KubernetesError`. */
  readonly patch: (
    change: { readonly object: ScalerObject; readonly status: JsonObject },
    signal: AbortSignal,
  ) => Promise<ScalerObject>;
  readonly recordEvent: (object: ScalerObject, event: TargetEvent) => void;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  readonly log: Log;
}

const PASS_MS = 2000;
/**
 * Limits the writes that change only metric values and messages to 5 per second. Otherwise fluctuating metrics of many
 * objects would load the API server.
 */
const MAX_REFRESHES_PER_PASS = 10;
/** Limits the length of a pass: a condition that changes during a pass waits until the pass ends, at most about 2 s. */
const MAX_TRANSITIONS_PER_PASS = 500;
/**
 * How long writes in a namespace wait after a 403: 5 to 10 s at first, then twice as long each time, up to a minute.
 */
const FORBIDDEN_MS = { first: 5000, last: 30_000 };
/**
 * How long the writer waits after a lost connection, a timeout or a 5xx: 1 to 2 s at first, then twice as long each
 * time, up to 10 s, until a write succeeds. A server that does not answer then gets a request about every 5 s. A longer
 * wait would delay clients that wait for the status.
 */
const OUTAGE_MS = { first: 1000, last: 5000 };
const REJECTED_MS = 300_000;
/** Delay after an internal error, which must neither end the term nor fill the log. */
const INTERNAL_ERROR_MS = 60_000;
/** Delay after an object was changed or deleted, unless the watch reports that earlier. */
const OUTDATED_MS = 10_000;

/**
 * Writes the status of each Scaler object whose result differs from its stored status. Compares them every 2 s until
 * `signal` is aborted at the end of the leader's term. Sends nothing while nothing changes, and never rejects. A failed
 * write is repeated in a later pass. Several writes are in flight at once. Changed replicas and conditions are written
 * before metric values and messages.
 */
export async function pollStatuses(ports: StatusWriterPorts, signal: AbortSignal): Promise<void> {
  const { clock } = ports;
  const due = createDueStatuses(ports);
  const startBackoff = (): Backoff => createBackoff(clock, OUTAGE_MS.first, OUTAGE_MS.last);
  let backoff = startBackoff();
  const loggedKinds = new Set<string>();
  const refusals = new Map<string, Refused>();
  const refusalsOf = (namespace: string): Refused => {
    const known = refusals.get(namespace) ?? {
      ...createRefusals(clock),
      backoff: createBackoff(clock, FORBIDDEN_MS.first, FORBIDDEN_MS.last),
    };
    refusals.set(namespace, known);
    return known;
  };
  /**
   * Ends the waits of all namespaces after a write in one of them: one role usually grants the permission everywhere.
   */
  const clearRefusals = (namespace: string): void => {
    if (!refusals.delete(namespace)) return;
    for (const other of refusals.keys()) due.delayNamespace(other, 0);
  };
  const mayContinue = (): boolean => !signal.aborted && ports.leadership.mayWrite();
  const window = createRequestWindow(clock);
  const pass = async (): Promise<number> => {
    const { transitions, refreshes } = await due.next({
      transitions: MAX_TRANSITIONS_PER_PASS,
      refreshes: MAX_REFRESHES_PER_PASS,
    });
    let stoppedForMs = 0;
    const probed = new Set<string>();
    /**
     * Returns whether an object is skipped in this pass. In a namespace with a 403, only the first write of a pass is
     * sent: it shows whether writes are allowed again.
     */
    const isPassedOver = ({ object: { namespace } }: DueStatus): boolean =>
      due.isDelayed(namespace) || (refusals.has(namespace) && probed.has(namespace));
    const write = async (one: DueStatus): Promise<void> => {
      const startMs = clock.monotonicMs();
      probed.add(one.object.namespace);
      try {
        due.written(one, await writeOne(ports, one, signal));
        window.answered(clock.monotonicMs() - startMs);
        backoff = startBackoff();
        clearRefusals(one.object.namespace);
        // `forbidden` is not removed, because the permission may still be missing in another namespace.
        for (const kind of loggedKinds) if (kind !== 'forbidden') loggedKinds.delete(kind);
      } catch (error) {
        // If several requests fail together, only the first failure is handled. It determines how long all of them
        // wait.
        if (!mayContinue() || stoppedForMs > 0 || due.isDelayed(one.object.namespace)) return;
        const failure = {
          error,
          one,
          loggedKinds,
          due,
          log: ports.log,
          refusals: refusalsOf(one.object.namespace),
        };
        stoppedForMs = handleFailure(failure, () => backoff.next());
        // Any error other than a 403 shows that writes in the namespace are allowed.
        if (!isForbidden(error)) refusals.delete(one.object.namespace);
        if (stoppedForMs > 0) window.overloaded();
      }
    };
    const underWay = new Set<Promise<void>>();
    for (const one of [...transitions, ...refreshes]) {
      while (underWay.size >= window.size()) await Promise.race(underWay);
      if (!mayContinue() || stoppedForMs > 0) break;
      if (isPassedOver(one)) continue;
      const written = write(one).finally(() => underWay.delete(written));
      underWay.add(written);
    }
    await Promise.all(underWay);
    if (stoppedForMs > 0 || !mayContinue()) return stoppedForMs || PASS_MS;
    return transitions.length < MAX_TRANSITIONS_PER_PASS ? PASS_MS : 0;
  };
  const passOrWait = async (): Promise<number> => {
    try {
      return await pass();
    } catch (error) {
      ports.log.error('failed to compute status of Scalers: internal error', { error });
      return INTERNAL_ERROR_MS;
    }
  };
  for (let waitMs = PASS_MS; ; waitMs = await passOrWait()) {
    await sleep(clock, waitMs, signal);
    if (signal.aborted) return;
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof KubernetesError && error.kind === 'forbidden';
}

/** The 403 responses in a namespace since its last successful write. */
interface Refused extends Refusals {
  readonly backoff: Backoff;
}

async function writeOne(
  { patch, store, recordEvent }: StatusWriterPorts,
  due: DueStatus,
  signal: AbortSignal,
): Promise<ScalerObject> {
  const { object, wanted } = due;
  const answer = await patch({ object, status: statusPatch(object.status, wanted) }, signal);
  store.remember(answer);
  const event = rejectionEvent(due);
  if (event !== null) recordEvent(object, event);
  return answer;
}

/**
 * Returns the Event for a rejected generation. Null: the generation is accepted, or the stored status already reports
 * the rejection. Therefore neither a restart nor another leader repeats the Event.
 */
function rejectionEvent({ object, wanted, verdict }: DueStatus): TargetEvent | null {
  const isRejection = ({ type, status, observedGeneration }: StatusCondition): boolean =>
    type === 'Accepted' && status === 'False' && observedGeneration === object.generation;
  const reason = wanted.conditions.find(isRejection)?.reason;
  const rejection = rejectionOf(verdict.problems);
  if (reason === undefined || !isEventReason(reason) || rejection === null) return null;
  return storedConditions(object.status).some(isRejection) ? null : buildEvent(reason, rejection.cause);
}

/** Handles a failed write. Returns the milliseconds until the next pass; 0: this pass continues. */
function handleFailure(
  failure: {
    readonly error: unknown;
    readonly one: DueStatus;
    readonly loggedKinds: Set<string>;
    readonly due: ReturnType<typeof createDueStatuses>;
    readonly log: Log;
    readonly refusals: Refused;
  },
  nextWaitMs: () => number,
): number {
  const { error, one, loggedKinds, due, log, refusals } = failure;
  const { namespace } = one.object;
  if (!(error instanceof KubernetesError)) {
    log.error('failed to write status of Scaler: internal error', { scaler: scalerKey(one.object), error });
    due.delay(scalerKey(one.object), REJECTED_MS);
    return 0;
  }
  const { kind } = error;
  const logFailure = (fix?: string): void => {
    if (loggedKinds.has(kind)) return;
    loggedKinds.add(kind);
    log.warn('failed to write status of Scaler', {
      scaler: scalerKey(one.object),
      error: error.message,
      ...(fix === undefined ? {} : { fix }),
    });
  };
  if (kind !== 'forbidden') refusals.clear();
  const limitedMs = rateLimitMs(error);
  if (limitedMs !== null) return limitedMs;
  switch (kind) {
    case 'conflict':
    case 'not_found':
    case 'gone':
      due.delay(scalerKey(one.object), OUTDATED_MS);
      return 0;
    case 'forbidden':
      if (!refusals.note()) {
        due.delayNamespace(namespace, refusals.retryMs());
        return 0;
      }
      logFailure(
        'set the chart values crd.enabled: true and rbac.create: true (patch of scalers/status in promscaler.dev)',
      );
      due.delayNamespace(namespace, refusals.backoff.next());
      return 0;
    case 'invalid':
    case 'bad_answer':
      logFailure();
      due.delay(scalerKey(one.object), REJECTED_MS);
      return 0;
    default:
      logFailure();
      return nextWaitMs();
  }
}

interface RequestWindow {
  readonly size: () => number;
  readonly answered: (tookMs: number) => void;
  /** Must be called after a 429, a 5xx or a request without a response. */
  readonly overloaded: () => void;
}

/**
 * Limits the requests in flight to the connections of the lane `status`. API priority and fairness has 245 seats for
 * service accounts.
 */
const MAX_AT_ONCE = 20;
const FIRST_AT_ONCE = 5;
const SLOW_ANSWER_MS = 500;
/** Minimum interval between two reductions of the window, because a slow server sends many late responses at once. */
const SHRINK_INTERVAL_MS = 1000;

/** After an overload, the window grows by one request in each interval of this length. */
const GROW_INTERVAL_MS = 10_000;

/**
 * Limits the requests in flight. The window grows by one for each full window of quick responses. It halves when the
 * server is overloaded or takes half a second for a response: more requests would only wait in the server's queue,
 * ahead of other clients. After that, the window grows quickly up to the last size that worked, and slowly above that
 * size.
 */
function createRequestWindow(clock: Clock): RequestWindow {
  let size = FIRST_AT_ONCE;
  let ceiling = MAX_AT_ONCE;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  const shrink = (): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - changedAtMs < SHRINK_INTERVAL_MS) return;
    changedAtMs = nowMs;
    ceiling = Math.max(1, Math.floor(size) - 1);
    size = Math.max(1, size / 2);
  };
  return {
    size: () => Math.floor(size),
    answered: (tookMs) => {
      if (tookMs > SLOW_ANSWER_MS) {
        shrink();
        return;
      }
      if (ceiling < MAX_AT_ONCE && clock.monotonicMs() - changedAtMs >= GROW_INTERVAL_MS) {
        changedAtMs = clock.monotonicMs();
        ceiling += 1;
      }
      size = Math.min(ceiling, size + 1 / size);
    },
    overloaded: shrink,
  };
}
