import { formatTime } from '../simulation/faults.js';
import type { WorkloadPlan } from '../simulation/scenario.js';
import { disturbancesOf, isCalm, isRefusal } from './disturbances.js';
import { type History, holdSecondsOf, lastBefore, replicasAt, rulesOf, type Target } from './history.js';
import type { Found, Invariant } from './violation.js';

const LOOK_MS = 60_000;
/** Rounding, the tolerance of 10 % and the whole percents of a utilization. */
const LOW_SHARE = 0.87;
const HIGH_SHARE = 1.14;

const rightAgain: Invariant = {
  id: 'I12',
  text: 'the replicas are correct again at the latest a window, a hold, 3 periods and 30 s after a fault',
  check: (history) =>
    history.targets.flatMap((target): readonly Found[] => {
      const disturbances = disturbancesOf(history, target);
      const { upMs, downMs } = boundsMs(target.plan);
      return spellsOf(history, target, (ms) => {
        const isCalmUp = isCalm(disturbances, ms - upMs, ms);
        const isCalmDown = isCalmUp && isCalm(disturbances, ms - downMs, ms);
        return (
          (isCalmUp ? tooFew(target, ms, upMs) : null) ?? (isCalmDown ? tooMany(target, ms, downMs) : null)
        );
      });
    }),
};

/** Checks a target once a minute: one report for each spell of wrong counts. */
function spellsOf(
  history: History,
  { scaler }: Target,
  wrongAt: (ms: number) => string | null,
): readonly Found[] {
  const found: Found[] = [];
  for (let ms = LOOK_MS; ms < history.durationMs; ms += LOOK_MS) {
    const wrong = wrongAt(ms);
    if (wrong === null) continue;
    found.push({ atMs: ms, message: `${scaler} ${wrong} at ${formatTime(ms)}`, scaler });
    ms += 30 * LOOK_MS;
  }
  return found;
}

function tooFew(target: Target, atMs: number, upMs: number): string | null {
  const { load, plan } = target;
  const { least } = load.extremes(atMs - upMs, atMs);
  const replicas = replicasAt(target, atMs);
  const needed = Math.min(plan.maxReplicas, leastCeiling(target, atMs - upMs, atMs), least * LOW_SHARE - 1);
  return replicas >= needed
    ? null
    : `has ${replicas} replicas, needs ${least.toFixed(1)} for ${upMs / 1000} s`;
}

/** The ceiling of an hour before may be the last one that was answered. */
function leastCeiling({ plan, ceilingAt }: Target, fromMs: number, toMs: number): number {
  let least = Infinity;
  if (plan.ceilingQuery === undefined) return least;
  for (let ms = fromMs - 3_600_000; ms <= toMs; ms += LOOK_MS) least = Math.min(least, ceilingAt(ms));
  return least;
}

function tooMany({ load, plan, ...target }: Target, atMs: number, downMs: number): string | null {
  const { most } = load.extremes(atMs - downMs, atMs);
  const replicas = replicasAt({ load, plan, ...target }, atMs);
  const needed = Math.max(plan.minReplicas, most * HIGH_SHARE + 1);
  return replicas <= needed
    ? null
    : `has ${replicas} replicas, needs at most ${most.toFixed(1)} for ${downMs / 1000} s`;
}

/**
 * Returns how long a correct count may take: the lag of the metrics, 3 periods and 30 s; downwards the stabilization
 * and twice the hold; and with windows or policies the steps from one end to the other.
 */
function boundsMs(plan: WorkloadPlan): { readonly upMs: number; readonly downMs: number } {
  const { upWindow, downWindow, downStabilization } = rulesOf(plan);
  const lag = Math.max(...plan.metrics.map(({ windowSeconds }) => windowSeconds)) + 15;
  const slack = lag + 3 * plan.syncPeriodSeconds + 30;
  const hold = Math.max(...plan.metrics.map((metric) => holdSecondsOf(metric, plan.syncPeriodSeconds)));
  const steps = 5;
  const { behavior } = plan;
  const widest = 30;
  const upSteps = behavior === null ? 0 : Math.ceil(widest / behavior.up.pods) * behavior.up.periodSeconds;
  const downSteps =
    behavior === null ? 0 : Math.ceil(widest / behavior.down.pods) * behavior.down.periodSeconds;
  // A first scale-up in a new process waits for its whole window, as does one after any other change.
  const up =
    slack + Math.max(steps * plan.syncPeriodSeconds, steps * (upWindow + plan.syncPeriodSeconds)) + upSteps;
  const down = slack + Math.max(downStabilization, 2 * downWindow) + 2 * hold + downSteps;
  return { upMs: (up + slowUpSeconds(plan)) * 1000, downMs: down * 1000 };
}

/**
 * Pods at their limits hide load: each step shows only after a pod start and a whole window. What was measured of the
 * capacity is read again after 5 minutes.
 */
function slowUpSeconds({ metrics, slowSeconds, autoQuery }: WorkloadPlan): number {
  const isLimited = metrics.some(({ kind }) => kind === 'served');
  const limited = isLimited && slowSeconds !== null ? 5 * (slowSeconds + 180) : 0;
  return limited + (autoQuery === undefined ? 0 : 600);
}

const promptlyUp: Invariant = {
  id: 'I13',
  text: 'with complete data, faults of watches, Events, Leases or lists do not delay a scale-up',
  check: (history) => {
    const target = history.targets.find(({ plan }) => plan.name === 'worker');
    if (target === undefined) return [];
    const disturbing = disturbancesOf({ ...history, faults: history.faults.filter(isOnUpPath) }, target);
    const { upMs } = boundsMs(target.plan);
    return spellsOf(history, target, (ms) =>
      isCalm(disturbing, ms - upMs, ms) ? tooFew(target, ms, upMs) : null,
    );
  },
};

function isOnUpPath(fault: History['faults'][number]): boolean {
  if (fault.kind === 'watch') return fault.what.mode === 'http-410';
  // Without permission to watch, no decision uses what was read before.
  if (fault.kind === 'api' && isRefusal(fault)) return true;
  return !(fault.kind === 'api' && ['events', 'watch', 'lease'].includes(fault.group));
}

const decidesEachPeriod: Invariant = {
  id: 'I22',
  text: 'with complete data and the API available, each scaler has one decision per period, give or take one',
  check: (history) => gaps(history, () => true),
};

const leavesOthersAlone: Invariant = {
  id: 'I14',
  text: 'a fault of a source, target or namespace delays decisions and values of other scalers by at most a period',
  check: (history) => [
    ...gaps(history, (fromMs, toMs) =>
      history.faults.some(
        (fault) =>
          (fault.kind === 'source' || fault.kind === 'cluster') &&
          fault.startMs < toMs &&
          fault.endMs > fromMs,
      ),
    ),
    ...valuesLostToTenants(history),
  ],
};

/** Returns the metrics that had no value for two periods of calm next to a hostile namespace. */
function valuesLostToTenants(history: History): readonly Found[] {
  const tenants = history.faults.filter(({ what }) => what.mode === 'hostile-tenant');
  if (tenants.length === 0) return [];
  const queries = [...history.byProcess.values()].flatMap((records) => records.queries);
  return history.targets.flatMap(({ plan, ...target }) => {
    const disturbances = disturbancesOf(history, { plan, ...target });
    const longestMs = 2 * plan.syncPeriodSeconds * 1000 + 1500;
    return plan.metrics.flatMap(({ query }) => {
      const timesMs = queries
        .filter((one) => one.answer === 'value' && one.query.includes(query))
        .map(({ answeredMs }) => answeredMs ?? 0)
        .sort((a, b) => a - b);
      return tenants.flatMap(({ startMs, endMs }): readonly Found[] => {
        let fromMs = startMs;
        for (const atMs of [...timesMs.filter((ms) => ms > startMs && ms < endMs), endMs]) {
          const message = `${target.scaler} had no value of ${query} from ${formatTime(fromMs)} to ${formatTime(atMs)}`;
          if (atMs - fromMs > longestMs && isCalm(disturbances, fromMs - CALM_BEFORE_MS, atMs))
            return [{ atMs, message, scaler: target.scaler }];
          fromMs = atMs;
        }
        return [];
      });
    });
  });
}

/** Of a lost answer of the API server, a server without samples, or a process that has just started. */
const CALM_BEFORE_MS = 330_000;

/** Returns the spells without a decision of an undisturbed scaler. */
function gaps(history: History, isMeant: (fromMs: number, toMs: number) => boolean): readonly Found[] {
  return history.targets.flatMap((target) => {
    const disturbances = disturbancesOf(history, target);
    const longestMs = 2 * target.plan.syncPeriodSeconds * 1000 + 1500;
    const decisions = [...history.byProcess.values()]
      .flatMap(({ decisions: all }) => all.get(target.scaler) ?? [])
      .map(({ atMs }) => atMs)
      .sort((a, b) => a - b);
    const found: Found[] = [];
    [...decisions, history.durationMs].forEach((atMs, index) => {
      const fromMs = index === 0 ? 0 : (decisions[index - 1] ?? 0);
      // A spell that starts with a disturbance needs some calm time first.
      const settleMs = history.isElected ? 45_000 : 20_000;
      const disturbed = disturbances.filter(
        ({ startMs, endMs }) => startMs <= atMs && endMs + settleMs >= fromMs,
      );
      const lastEndMs = disturbed.reduce((latest, { endMs }) => Math.max(latest, endMs + settleMs), fromMs);
      if (
        atMs - lastEndMs <= longestMs ||
        !isMeant(fromMs, atMs) ||
        !hasDocument(history, target, fromMs, atMs)
      )
        return;
      const message = `nothing was decided for ${target.scaler} from ${formatTime(lastEndMs)} to ${formatTime(atMs)}`;
      found.push({ atMs, message, scaler: target.scaler });
    });
    return found;
  });
}

function hasDocument(history: History, { scaler }: Target, fromMs: number, toMs: number): boolean {
  const changes = history.documents.filter((change) => change.scaler === scaler);
  const isWithin = changes.some(({ atMs }) => atMs > fromMs && atMs <= toMs);
  return !isWithin && lastBefore(changes, fromMs)?.plan !== null;
}

const seesTheTruth: Invariant = {
  id: 'I18',
  text: '5 s after the last event of a calm period, a decision reads the same state as the server has',
  check: (history) =>
    history.targets.flatMap((target): readonly Found[] => {
      const disturbances = disturbancesOf(history, target);
      const all = [...history.byProcess.values()].flatMap(
        ({ decisions }) => decisions.get(target.scaler) ?? [],
      );
      for (const { atMs, pods, process } of all) {
        if (pods === null || !isCalm(disturbances, atMs - RECOVERY_MS, atMs)) continue;
        const names = lastBefore(target.pods, atMs)?.names ?? [];
        const changedMs = lastBefore(target.pods, atMs)?.atMs ?? 0;
        if (atMs - changedMs < 6000 || names.join() === pods.join()) continue;
        const message = `${process} sees ${pods.length} pods of ${target.scaler} at ${formatTime(atMs)}, there are ${names.length}: ${difference(names, pods)}`;
        return [{ atMs, message, scaler: target.scaler, process }];
      }
      return [];
    }),
};

/** A silent watch is ended after 150 s, a back-off is at most 60 s, and then follows a list. */
const RECOVERY_MS = 260_000;

function difference(names: readonly string[], seen: readonly string[]): string {
  const unseen = names.filter((name) => !seen.includes(name));
  const gone = seen.filter((name) => !names.includes(name));
  return `not seen: ${unseen.join(' ')}; gone: ${gone.join(' ')}`;
}

export const CONVERGENCE_INVARIANTS: readonly Invariant[] = [
  rightAgain,
  promptlyUp,
  leavesOthersAlone,
  decidesEachPeriod,
  seesTheTruth,
];
