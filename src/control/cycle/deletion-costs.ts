import type { CostChange, PodCosts } from '../../kubernetes/pods/pod-costs.js';
import {
  KubernetesError,
  orError,
  type KubernetesErrorKind,
  type ScaleTarget,
} from '../../kubernetes/api/types.js';
import type { FollowUps } from '../../prometheus/queries/follow-ups.js';
import type { PodDeletionCost, Scaler } from '../../scaler/spec.js';
import type { Log } from '../../units/log.js';
import { RecentMap } from '../../units/recent-map.js';
import { endedWithin, type Clock } from '../../units/clock.js';
import type { Leadership } from '../election/leadership.js';
import { planCosts, planRemovals } from './plan-costs.js';
import { errorMessage } from '../../units/failure.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { columnsOf } from '../../prometheus/answers/columns.js';

export interface DeletionCosts {
  /**
   * Before a scale-down of a scaler with `podDeletionCost`, sets the costs of the pods to delete first. The promise
   * resolves after at most 1 s. In any other cycle, removes leftover costs of promscaler in the background and returns
   * null, because there is nothing to wait for. Never throws: failures and delays are only logged.
   */
  readonly update: (input: CostInput, change: CostedChange) => Promise<void> | null;
  readonly isIdle: () => boolean;
}

interface CostInput {
  readonly scaler: Scaler;
  readonly followUps: Pick<FollowUps, 'ranking'>;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

interface CostedChange {
  readonly target: ScaleTarget;
  readonly from: number;
  readonly to: number;
  readonly isHeld: boolean;
}

interface DeletionCostPorts {
  readonly clock: Clock;
  readonly podCosts: PodCosts;
  /** Runs work that continues after the cycle. The bucket of the scaler is not released before the work ends. */
  readonly track: (scaler: Scaler, work: () => Promise<void>) => Promise<void>;
  readonly log: Log;
  /** The dry run of the service, which applies to all scalers. */
  readonly dryRun: boolean;
}

/** How long a scale-down waits for the costs. */
const COSTS_MS = 1000;

/** Failures that are ignored: the pod has changed or was deleted, so its cost does not matter. */
const HARMLESS: ReadonlySet<KubernetesErrorKind> = new Set(['conflict', 'not_found']);

/** The last failure of a scaler; `kind` null: the last change succeeded. */
interface LoggedFailure {
  readonly kind: string | null;
}

const LOG_AGAIN_SECONDS = 3600;

/**
 * Keeps no state except the last logged failure of each scaler: an annotation on each pod says whether promscaler has
 * set its cost.
 */
export function createDeletionCosts(ports: DeletionCostPorts): DeletionCosts {
  const { clock, podCosts, log } = ports;
  const loggedFailures = new RecentMap<string, LoggedFailure>(LOG_AGAIN_SECONDS);
  /** Keys of the scalers whose costs are being removed. */
  const removing = new Set<string>();
  let running = 0;

  const logFailure = (scaler: Scaler, kind: string, error: string): void => {
    const { key } = scaler;
    const now = clock.now();
    if (loggedFailures.get(key, now)?.kind === kind) return;
    loggedFailures.set(key, { kind }, now);
    log.warn('failed to set deletion costs; Kubernetes chooses the pods to remove', { scaler: key, error });
  };

  const write = async (
    scaler: Scaler,
    changes: readonly CostChange[],
    signal: AbortSignal,
  ): Promise<boolean> => {
    const failures = await Promise.all(
      changes.map(async (change) => {
        const answer = await orError(() => podCosts.set(scaler.namespace, change, signal));
        return answer instanceof KubernetesError && !HARMLESS.has(answer.kind) ? answer : null;
      }),
    );
    const failure = failures.find((error) => error !== null);
    if (failure === undefined) return true;
    // An aborted request is not logged here: after `COSTS_MS` the caller logs it, and at the end of the term it is not
    // a failure.
    if (signal.aborted) return false;
    logFailure(scaler, failure.kind, failure.message + (failure.kind === 'forbidden' ? PERMISSION_FIX : ''));
    return false;
  };

  const setCosts = async (
    { scaler, followUps, leadership }: CostInput,
    { target, to }: CostedChange,
    { order, signal }: { readonly order: PodDeletionCost['order']; readonly signal: AbortSignal },
  ): Promise<void> => {
    const answer = await followUps.ranking(scaler);
    if (answer === null || signal.aborted || !leadership.mayWrite()) return;
    const pods = podCosts.list(scaler.namespace, target.selector);
    const names = pods.map(({ pod }) => pod.name);
    const ranking = rankPods(answer, scaler.namespace, names);
    if (ranking.kind === 'unusable') logFailure(scaler, 'query', `query failed: ${ranking.message}`);
    const values = ranking.kind === 'ranked' ? ranking.values : new Map<string, number>();
    const changes = planCosts(pods, { to, values, order });
    const isDone = await write(scaler, changes, signal);
    if (isDone && ranking.kind !== 'unusable') loggedFailures.set(scaler.key, { kind: null }, clock.now());
    if (changes.length > 0) log.debug('deletion costs set', { scaler: scaler.key, ...costFacts(changes) });
  };

  const removeCosts = async (
    { scaler, signal }: CostInput,
    { target, from }: CostedChange,
  ): Promise<void> => {
    const changes = planRemovals(podCosts.list(scaler.namespace, target.selector), from);
    await write(scaler, changes, signal);
    if (changes.length > 0) log.debug('deletion costs set', { scaler: scaler.key, ...costFacts(changes) });
  };

  const logFault = (scaler: Scaler, error: unknown): void => {
    const kind = error instanceof KubernetesError ? error.kind : 'fault';
    logFailure(scaler, kind, errorMessage(error));
  };

  const hasOwnCosts = (scaler: Scaler): boolean => {
    try {
      return podCosts.hasOwn(scaler.namespace);
    } catch (error) {
      // Does not log that the pods cannot be listed, because the cycle itself reports that.
      if (!(error instanceof KubernetesError)) logFault(scaler, error);
      return false;
    }
  };

  const start = (scaler: Scaler, work: () => Promise<void>): Promise<void> =>
    ports.track(scaler, async () => {
      running += 1;
      try {
        await work();
      } catch (error) {
        logFault(scaler, error);
      } finally {
        running -= 1;
      }
    });

  const setInTime = async (
    input: CostInput,
    change: CostedChange,
    order: PodDeletionCost['order'],
  ): Promise<void> => {
    const { scaler } = input;
    const ending = new AbortController();
    const progress = { isDone: false };
    const work = start(scaler, () => setCosts(input, change, { order, signal: ending.signal })).then(() => {
      progress.isDone = true;
    });
    await endedWithin(clock, COSTS_MS, work);
    // Ends unfinished requests: a cost that is set after the change of replicas may come too late for the ReplicaSet
    // controller.
    ending.abort();
    if (!progress.isDone) logFailure(scaler, 'late', `the deletion costs were not set within ${COSTS_MS} ms`);
  };

  return {
    update: (input, change) => {
      const { scaler, leadership, signal } = input;
      const { from, to, isHeld } = change;
      if (ports.dryRun || scaler.spec.dryRun || signal.aborted) return null;
      if (!input.isCurrent() || !leadership.mayWrite()) return null;
      const deletionCost = scaler.spec.podDeletionCost;
      if (deletionCost !== null && !isHeld && to < from) return setInTime(input, change, deletionCost.order);
      if (!hasOwnCosts(scaler)) return null;
      const key = scaler.key;
      if (removing.has(key)) return null;
      removing.add(key);
      void start(scaler, () => removeCosts(input, change).finally(() => removing.delete(key)));
      return null;
    },
    isIdle: () => running === 0,
  };
}

const PERMISSION_FIX = ' (set the chart value podDeletionCost.enabled: true to grant this permission)';

/**
 * Returns the fields of a log line: the pods with a new cost, in the order of deletion, and the pods whose cost was
 * removed.
 */
function costFacts(changes: readonly CostChange[]): Readonly<Record<string, readonly string[]>> {
  const names = (isSet: boolean): readonly string[] =>
    changes.filter(({ cost }) => (cost !== null) === isSet).map(({ pod }) => pod.pod.name);
  return { set: names(true), removed: names(false) };
}

export type PodRanking =
  /** Maps pod names to values. Pods without series or with NaN are omitted. Values may be infinite or negative. */
  | { readonly kind: 'ranked'; readonly values: ReadonlyMap<string, number> }
  /** The query returned no series, which may be intended: no pod is preferred. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'unusable'; readonly message: string };

/**
 * Returns the value of each pod in the answer to a ranking query. A partial answer ranks no pods, because the missing
 * pods may be the ones to delete first.
 */
export function rankPods(answer: Answer, namespace: string, podNames: readonly string[]): PodRanking {
  if (answer.class === 'missing') return { kind: 'empty' };
  if (answer.class === 'partial')
    return { kind: 'unusable', message: `the answer may be incomplete: ${answer.why}` };
  if (answer.class !== 'value') return { kind: 'unusable', message: answer.message };
  const columns = columnsOf(answer);
  const { namespaces } = columns.layout.index;
  const candidates = [namespaces.get(namespace), namespaces.get(null)];
  if (candidates.some((series) => series?.pods.has(null) === true))
    return { kind: 'unusable', message: 'a series has no label "pod": aggregate by (pod)' };
  const values = new Map<string, number>();
  for (const name of podNames) {
    const found = candidates.flatMap((series) => series?.pods.get(name) ?? []);
    const [one] = found;
    if (found.length > 1)
      return { kind: 'unusable', message: `${found.length} series for pod "${name}": aggregate by (pod)` };
    const value = one === undefined ? Number.NaN : (columns.values[one] ?? Number.NaN);
    if (!Number.isNaN(value)) values.set(name, value);
  }
  return { kind: 'ranked', values };
}
