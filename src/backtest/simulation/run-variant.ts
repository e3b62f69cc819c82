import { decide } from '../../decision/decide.js';
import type { Decision, LimitName } from '../../decision/result/decision.js';
import { EMPTY_STATE } from '../../decision/snapshot/snapshot.js';
import type { Snapshot, State } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Milli } from '../../units/quantity.js';
import { addSeconds, earliest, latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { createFleet } from './fleet.js';
import type { Fleet, PodOrder } from './fleet.js';
import { type CountStep, countsSince } from './count-steps.js';
import { type MetricModel, createShareCurve, type ShareCurve, takeSample } from './samples.js';

export interface RunInput {
  readonly start: Instant;
  readonly end: Instant;
  /** One model for each metric of the document, in the same order; null: the metric is omitted. */
  readonly models: readonly (MetricModel | null)[];
  readonly initialReplicas: number;
  readonly podStartSeconds: number;
  readonly scrapeIntervalSeconds: number;
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** How pods are created. Default: `parallel`. */
  readonly order?: PodOrder;
  /** Default: one sync period after the first value. */
  readonly firstRoundAt?: Instant;
  /**
   * At or before `start`. The simulation starts here, or when all loads have begun, so windows have data at `start`.
   * Rounds before `start` are not in the result. Default: `start`.
   */
  readonly warmUpFrom?: Instant;
}

/** The replicas and decisions of a document on a load. */
export interface Run {
  readonly start: Instant;
  readonly end: Instant;
  /** `.spec.replicas`; the first step is at `start`. */
  readonly replicas: readonly CountStep[];
  readonly ready: readonly CountStep[];
  /** Decisions that changed the replicas. */
  readonly changes: readonly Change[];
  readonly rounds: number;
  /** Number of rounds in which maxReplicas limited the recommendation. */
  readonly roundsAtMaximum: number;
  /** Number of rounds in which each limit changed the count. */
  readonly roundsByLimit: ReadonlyMap<LimitName, number>;
  readonly roundsWithoutValue: number;
}

/**
 * The part of a decision that reports need. A month may have thousands of changes, and a decision has an entry per pod.
 */
export interface Change extends Pick<Decision, 'action' | 'currentReplicas' | 'desiredReplicas' | 'reason'> {
  readonly at: Instant;
}

/** Called after each decision with its snapshot. */
export type OnRound = (decision: Decision, snapshot: Snapshot) => void;

/**
 * Runs a document over a load, with the same `decide` that scales the cluster: each decision is carried out and changes
 * what the next one measures. Pause and dry run of the document are ignored.
 */
export function runVariant(document: Scaler, input: RunInput, onRound?: OnRound): Run {
  const { start, end } = input;
  const models = input.models.filter((model) => model !== null);
  const scaler = withMetrics(document, modelledMetrics(document, input));
  const begin = beginOf(input, models);
  const fleet = createFleet({
    replicas: input.initialReplicas,
    start: begin,
    podStartSeconds: input.podStartSeconds,
    requests: input.requests,
    order: input.order ?? 'parallel',
  });
  const shares = models.map((model) => (hasCurve(model) ? createShareCurve(begin) : null));
  const log = createLog(fleet, { begin, start });
  let state: State = EMPTY_STATE;
  let carriedUntil = begin;
  const { syncPeriodSeconds } = scaler.spec;
  let now = input.firstRoundAt ?? addSeconds(begin, syncPeriodSeconds);
  while (now <= begin) now = addSeconds(now, syncPeriodSeconds);
  for (; now <= end; now = addSeconds(now, syncPeriodSeconds)) {
    carriedUntil = carryLoad(fleet, { models, shares, from: carriedUntil, to: now, log });
    const snapshot = snapshotAt(scaler, { now, fleet, models, shares, ready: log.ready, state, input });
    const decision = decide(snapshot);
    state = decision.state;
    if (decision.desiredReplicas !== fleet.replicas()) fleet.scaleTo(decision.desiredReplicas, now);
    log.addDecision(decision, now);
    if (now > start) onRound?.(decision, snapshot);
  }
  carryLoad(fleet, { models, shares, from: carriedUntil, to: end, log });
  return log.finish(end);
}

/** Returns the metrics of the document that are not omitted. */
export function modelledMetrics({ spec }: Scaler, { models }: RunInput): readonly MetricSpec[] {
  return spec.metrics.filter((_, index) => models[index] !== null);
}

function withMetrics(scaler: Scaler, metrics: readonly MetricSpec[]): Scaler {
  const isWhole = metrics.length === scaler.spec.metrics.length;
  return isWhole ? scaler : { ...scaler, spec: { ...scaler.spec, metrics } };
}

function beginOf({ start, warmUpFrom = start }: RunInput, models: readonly MetricModel[]): Instant {
  const known = models.reduce<Instant>((most, { load }) => latest(most, load.start), warmUpFrom);
  return earliest(known, start);
}

function snapshotAt(
  scaler: Scaler,
  given: {
    readonly now: Instant;
    readonly fleet: Fleet;
    readonly models: readonly MetricModel[];
    readonly shares: readonly (ShareCurve | null)[];
    readonly ready: readonly CountStep[];
    readonly state: State;
    readonly input: RunInput;
  },
): Snapshot {
  const { now, fleet, models, shares, ready, state, input } = given;
  const pods = fleet.pods();
  const { scrapeIntervalSeconds } = input;
  const samples = scaler.spec.metrics.map((metric, index) => {
    const model = models[index];
    if (model === undefined) throw new Error(`no model for metric ${index}`);
    const ofMetric = shares[index] ?? null;
    return takeSample(metric, model, { now, pods, shares: ofMetric, ready, scrapeIntervalSeconds });
  });
  const target = { specReplicas: fleet.replicas(), statusReplicas: pods.length };
  return { scaler, now, target, pods, samples, state };
}

/** A load that is already a mean is divided when a sample is taken. */
function hasCurve(model: MetricModel): boolean {
  return model.kind === 'share' && model.loadIs === 'present';
}

/** Divides the load of a period among the pods that are ready in it. Returns the end of the period. */
function carryLoad(
  fleet: Fleet,
  period: {
    readonly models: readonly MetricModel[];
    readonly shares: readonly (ShareCurve | null)[];
    readonly from: Instant;
    readonly to: Instant;
    readonly log: Log;
  },
): Instant {
  const { models, shares, to, log } = period;
  let { from } = period;
  while (from < to) {
    const until = earliest(fleet.nextReadyAt() ?? to, to);
    const ready = fleet.readyCount();
    models.forEach((model, index) => {
      const curve = shares[index] ?? null;
      if (model.kind !== 'share' || curve === null) return;
      const most = model.saturation ?? Infinity;
      model.load.pieces(from, until, (_, pieceEnd, load) => {
        curve.add(pieceEnd, load === null ? null : ready === 0 ? 0 : Math.min(load / ready, most));
      });
    });
    from = until;
    fleet.advanceTo(from);
    log.notePods(from);
  }
  return to;
}

interface Log {
  readonly ready: readonly CountStep[];
  readonly notePods: (now: Instant) => void;
  readonly addDecision: (decision: Decision, now: Instant) => void;
  readonly finish: (end: Instant) => Run;
}

function createLog(
  fleet: Fleet,
  { begin, start }: { readonly begin: Instant; readonly start: Instant },
): Log {
  const replicas: CountStep[] = [];
  const ready: CountStep[] = [];
  const changes: Change[] = [];
  const roundsByLimit = new Map<LimitName, number>();
  const counts = { rounds: 0, roundsAtMaximum: 0, roundsWithoutValue: 0 };

  const notePods = (now: Instant): void => {
    noteCount(replicas, fleet.replicas(), now);
    noteCount(ready, fleet.readyCount(), now);
  };
  notePods(begin);

  return {
    ready,
    notePods,
    addDecision: (decision, now) => {
      notePods(now);
      if (now <= start) return;
      counts.rounds += 1;
      const isCapped = decision.limits.some(({ limit }) => limit === 'max_replicas');
      if (isCapped && decision.desiredReplicas === decision.maxReplicas) counts.roundsAtMaximum += 1;
      if (decision.metrics.length > 0 && decision.metrics.every(({ proposal }) => proposal === null))
        counts.roundsWithoutValue += 1;
      for (const limit of new Set(decision.limits.map((step) => step.limit)))
        roundsByLimit.set(limit, (roundsByLimit.get(limit) ?? 0) + 1);
      const { action, currentReplicas, desiredReplicas, reason } = decision;
      if (action !== 'none') changes.push({ at: now, action, currentReplicas, desiredReplicas, reason });
    },
    finish: (end) => {
      const steps = { replicas: countsSince(replicas, start), ready: countsSince(ready, start) };
      return { start, end, ...steps, changes, roundsByLimit, ...counts };
    },
  };
}

function noteCount(steps: CountStep[], count: number, at: Instant): void {
  if (steps.at(-1)?.count !== count) steps.push({ at, count });
}
