import type { ObjectVerdict } from '../../config/add-objects.js';
import type { JsonObject } from '../../kubernetes/api/json.js';
import { createBackoff } from '../../kubernetes/requests/backoff.js';
import { rateLimitMs } from '../../kubernetes/requests/rate-limit.js';
import { createRefusals, type Refusals } from '../../kubernetes/requests/refusals.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects/scaler-object.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import type { Log } from '../../units/log.js';
import { sleep } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import type { Leadership } from '../election/leadership.js';
import { createDueStatuses } from './due-statuses.js';
import type { DueStatus } from './due-statuses.js';
import { statusPatch } from './object-status.js';

interface StatusWriterPorts {
  readonly store: Pick<ScalerStore, 'list' | 'remember'>;
  readonly verdictOf: (key: string) => ObjectVerdict | null;
  readonly lastOf: (key: string) => ScalerStatus | null;
  /** Sends one PATCH and returns the object in the response; throws `KubernetesError`. */
  readonly patch: (
    change: { readonly object: ScalerObject; readonly status: JsonObject },
    signal: AbortSignal,
  ) => Promise<ScalerObject>;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  readonly clock: Clock;
  readonly log: Log;
}

const PASS_MS = 2000;
const MAX_WRITES_PER_PASS = 10;
const FORBIDDEN_MS = 300_000;
const REJECTED_MS = 300_000;
/** An internal error must neither end the term nor fill the log. */
const INTERNAL_ERROR_MS = 60_000;
/** Delay after a change or deletion of the object, unless the watch reports it earlier. */
const OUTDATED_MS = 10_000;

/**
 * Keeps the status of Scaler objects current for one term of the leader, until `signal` is aborted. Sends nothing while
 * nothing changes, and never rejects. A failed write is repeated in the next pass of this process or another one.
 */
export async function writeStatuses(ports: StatusWriterPorts, signal: AbortSignal): Promise<void> {
  const { clock } = ports;
  const due = createDueStatuses(ports);
  const backoff = createBackoff(clock, PASS_MS);
  const loggedKinds = new Set<string>();
  const refusals = new Map<string, Refusals>();
  const refusalsOf = (namespace: string): Refusals => {
    const known = refusals.get(namespace) ?? createRefusals(clock);
    refusals.set(namespace, known);
    return known;
  };
  const mayContinue = (): boolean => !signal.aborted && ports.leadership.mayWrite();
  const pass = async (): Promise<number> => {
    for (const one of await due.next(MAX_WRITES_PER_PASS)) {
      if (!mayContinue()) break;
      if (due.isDelayed(one.object.namespace)) continue;
      try {
        due.written(one, await writeOne(ports, one, signal));
        refusals.delete(one.object.namespace);
        // The permission may still be missing in another namespace.
        for (const kind of loggedKinds) if (kind !== 'forbidden') loggedKinds.delete(kind);
      } catch (error) {
        if (!mayContinue()) break;
        const failure = {
          error,
          one,
          loggedKinds,
          due,
          log: ports.log,
          refusals: refusalsOf(one.object.namespace),
        };
        const waitMs = handleFailure(failure, () => backoff.next());
        if (waitMs > 0) return waitMs;
      }
    }
    return PASS_MS;
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

async function writeOne(
  { patch, store }: StatusWriterPorts,
  { object, wanted }: DueStatus,
  signal: AbortSignal,
): Promise<ScalerObject> {
  const answer = await patch({ object, status: statusPatch(object.status, wanted) }, signal);
  store.remember(answer);
  return answer;
}

/** Returns the milliseconds until the next pass; 0 to continue this one. */
function handleFailure(
  failure: {
    readonly error: unknown;
    readonly one: DueStatus;
    readonly loggedKinds: Set<string>;
    readonly due: ReturnType<typeof createDueStatuses>;
    readonly log: Log;
    readonly refusals: Refusals;
  },
  nextWaitMs: () => number,
): number {
  const { error, one, loggedKinds, due, log, refusals } = failure;
  const { namespace } = one.object;
  const kind = error instanceof KubernetesError ? error.kind : 'bad_answer';
  const logFailure = (fix?: string): void => {
    if (loggedKinds.has(kind)) return;
    loggedKinds.add(kind);
    const message = error instanceof Error ? error.message : String(error);
    log.warn('failed to write status of Scaler', {
      scaler: scalerKey(one.object),
      error: message,
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
        'chart values crd.enabled: true and rbac.create: true: patch of scalers/status in promscaler.dev',
      );
      due.delayNamespace(namespace, FORBIDDEN_MS);
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
