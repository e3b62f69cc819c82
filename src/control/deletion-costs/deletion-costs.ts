import type { CostChange, PodCosts } from '../../kubernetes/pods/pod-costs.js';
import { KubernetesError, type KubernetesErrorKind, type ScaleTarget } from '../../kubernetes/types.js';
import type { RoundAnswers } from '../../prometheus/planner.js';
import { rankPods } from '../../prometheus/pod-ranking.js';
import type { PodDeletionCost, Scaler } from '../../scaler/spec.js';
import { scalerKey } from '../../scaler/spec.js';
import type { Log } from '../../units/log.js';
import { endedWithin } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import type { Leadership } from '../election/leadership.js';
import { planCosts, planTidying } from './plan-costs.js';

/** Which pods go in a scale-down, by their deletion costs. */
export interface DeletionCosts {
  /**
   * Before a scale-down of a scaler with `podDeletionCost`: gives the pods that should go first their costs, for a
   * second at most. What fails or is late is told in the log and otherwise ignored. In every other cycle it takes away
   * the costs of ours that pods have survived with, and nobody waits for that. Never throws.
   */
  readonly attend: (input: Attended, wanted: Wanted) => Promise<void>;
  /** Resolves when nothing is under way. */
  readonly idle: () => Promise<void>;
}

/** What a cycle starts from, as far as it is needed here. */
export interface Attended {
  readonly scaler: Scaler;
  readonly answers: RoundAnswers;
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

/** What the cycle came to. */
export interface Wanted {
  readonly target: ScaleTarget;
  /** The present count, and the one that was decided. */
  readonly from: number;
  readonly to: number;
  /** The decision is not carried out. */
  readonly isHeld: boolean;
}

export interface DeletionCostPorts {
  readonly clock: Clock;
  readonly podCosts: PodCosts;
  readonly leadership: Pick<Leadership, 'mayWrite'>;
  readonly log: Log;
  /** For all scalers: nothing is written. */
  readonly dryRun: boolean;
}

/** The longest that a scale-down waits for the costs of its pods. */
const COSTS_MS = 1000;

/** The pod is another one by now, or gone: nothing was lost that anybody would miss. */
const HARMLESS: ReadonlySet<KubernetesErrorKind> = new Set(['conflict', 'not_found']);

/** Remembers nothing but what it has complained of: which costs are ours is written on the pods. */
export function createDeletionCosts(ports: DeletionCostPorts): DeletionCosts {
  const { clock, podCosts, leadership, log } = ports;
  const complaints = new Map<string, string>();
  const underWay = new Map<string, Promise<void>>();

  const complain = (scaler: Scaler, kind: string, error: string): void => {
    const key = scalerKey(scaler);
    if (complaints.get(key) === kind) return;
    complaints.set(key, kind);
    log.warn('failed to set deletion costs; Kubernetes chooses the pods', { scaler: key, error });
  };

  const write = async (
    scaler: Scaler,
    changes: readonly CostChange[],
    signal: AbortSignal,
  ): Promise<boolean> => {
    const failures = await Promise.all(
      changes.map(async (change) => {
        try {
          await podCosts.set(scaler.namespace, change, signal);
          return null;
        } catch (error) {
          if (!(error instanceof KubernetesError)) throw error;
          return HARMLESS.has(error.kind) ? null : error;
        }
      }),
    );
    const failure = failures.find((error) => error !== null);
    if (failure === undefined) return true;
    // Too late, or the end of the term: that is told of elsewhere, or nothing to tell.
    if (signal.aborted) return false;
    complain(scaler, failure.kind, failure.message + (failure.kind === 'forbidden' ? MEND : ''));
    return false;
  };

  const mark = async (
    { scaler, answers }: Attended,
    { target, to }: Wanted,
    { wish, signal }: { readonly wish: PodDeletionCost; readonly signal: AbortSignal },
  ): Promise<void> => {
    const answer = (await answers.ranking?.(scalerKey(scaler))) ?? null;
    if (answer === null || signal.aborted || !leadership.mayWrite()) return;
    const pods = podCosts.list(scaler.namespace, target.selector);
    const names = pods.map(({ pod }) => pod.name);
    const ranking = rankPods(answer, scaler.namespace, names);
    if (ranking.kind === 'unusable') complain(scaler, 'query', `query failed: ${ranking.message}`);
    const values = ranking.kind === 'ranked' ? ranking.values : new Map<string, number>();
    const changes = planCosts(pods, { to, values, order: wish.order });
    const isDone = await write(scaler, changes, signal);
    if (isDone && ranking.kind !== 'unusable') complaints.delete(scalerKey(scaler));
    if (changes.length > 0)
      log.debug('deletion costs set', { scaler: scalerKey(scaler), ...costsOf(changes) });
  };

  const tidy = async ({ scaler, signal }: Attended, { target, from }: Wanted): Promise<void> => {
    const changes = planTidying(podCosts.list(scaler.namespace, target.selector), from);
    await write(scaler, changes, signal);
    if (changes.length > 0)
      log.debug('deletion costs set', { scaler: scalerKey(scaler), ...costsOf(changes) });
  };

  /** One after the other for each scaler; what it throws is never more than a line in the log. */
  const guard = async (scaler: Scaler, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      complain(scaler, error instanceof KubernetesError ? error.kind : 'fault', message);
    }
  };

  return {
    attend: async (input, wanted) => {
      const { scaler, signal } = input;
      const { from, to, isHeld } = wanted;
      if (ports.dryRun || scaler.spec.dryRun || signal.aborted) return;
      if (!input.isCurrent() || !leadership.mayWrite()) return;
      const wish = scaler.spec.podDeletionCost;
      if (wish !== null && !isHeld && to < from) {
        const ending = new AbortController();
        const progress = { isDone: false };
        const marked = guard(scaler, () => mark(input, wanted, { wish, signal: ending.signal })).then(() => {
          progress.isDone = true;
        });
        await endedWithin(clock, COSTS_MS, marked);
        // What has not been sent by now must not come after the change of replicas.
        ending.abort();
        if (!progress.isDone) complain(scaler, 'late', `not set after ${COSTS_MS} ms`);
        return;
      }
      const key = scalerKey(scaler);
      if (underWay.has(key) || !hasOwnCosts(podCosts, scaler)) return;
      underWay.set(
        key,
        guard(scaler, () => tidy(input, wanted)).finally(() => underWay.delete(key)),
      );
    },
    idle: async () => {
      await Promise.all([...underWay.values()]);
    },
  };
}

const MEND = ' (chart value podDeletionCost.enabled: true grants it)';

/** Pods that cannot be read are told of by the cycle itself. */
function hasOwnCosts(podCosts: PodCosts, { namespace }: Scaler): boolean {
  try {
    return podCosts.hasOwn(namespace);
  } catch {
    return false;
  }
}

/** For the log: which pods got a cost, the first to go first, and which lost it. */
function costsOf(changes: readonly CostChange[]): Readonly<Record<string, readonly string[]>> {
  const names = (isSet: boolean): readonly string[] =>
    changes.filter(({ cost }) => (cost !== null) === isSet).map(({ pod }) => pod.pod.name);
  return { set: names(true), removed: names(false) };
}
