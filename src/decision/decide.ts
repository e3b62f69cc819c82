import {
  describeFallback,
  type JudgedMetric,
  type PickedProposal,
  pickProposal,
  proposeAll,
} from './proposals/propose.js';
import {
  activate,
  type Activated,
  type Activation,
  readActivation,
  withoutPodMetrics,
} from './activation.js';
import { ABLE_TO_GET_SCALE, limitedConditions, SCALING_DISABLED, scalingActive } from './conditions.js';
import type { Condition } from './result/condition.js';
import type { Decision, ForecastResult, LimitStep } from './result/decision.js';
import { explainCount, type Measured } from './explain.js';
import { forecastFor } from './forecast/forecast.js';
import { buildNextState, seedRecommendations } from './next-state.js';
import { ceilingOf } from './limits/ceiling.js';
import type { LimitContext } from './limits/limit.js';
import { applyLimits } from './limits/limits.js';
import type { PodFacts } from './proposals/settled-pods.js';
import { type Bounds, boundsInForce, describeFloor, highestMax } from './limits/bounds.js';
import type { Snapshot } from './snapshot/snapshot.js';
import { describeFailure } from '../units/failure.js';
import { countAre } from '../units/format.js';

/**
 * Returns how many replicas the target should have, and why. Pure: reads no clock, network or file, and returns the
 * same decision for the same snapshot. Does not throw for a snapshot that `parseSnapshot` accepts.
 * Dry run, pause and leadership are not considered: they only prevent a decision from being applied.
 * `podFacts` must be about the pods of the snapshot. It only saves time and never changes the decision.
 * Source: HorizontalPodAutoscaler of Kubernetes 1.37 (horizontal.go, reconcileAutoscaler), with the limits of CHPA.
 */
export function decide(given: Snapshot, podFacts?: PodFacts): Decision {
  const bounds = boundsInForce(given.scaler.spec, given.now);
  const snapshot = withBounds(given, bounds);
  const shortCut = takeShortCut(
    snapshot,
    bounds,
    highestMax(given.scaler.spec, given.now, given.state.lastScaleUp),
  );
  if (shortCut !== null) return decideByShortCut(snapshot, shortCut);
  const metrics = proposeAll(snapshot, podFacts);
  const activation = readActivation(snapshot);
  const isAsleep = activation !== null && snapshot.target.specReplicas === 0;
  const pick = pickProposal(isAsleep ? withoutPodMetrics(metrics) : metrics);
  if (pick.replicas === null || (!pick.isTrusted && pick.replicas < snapshot.target.specReplicas)) {
    return holdUntrusted(snapshot, metrics, { pick, activation });
  }
  const { replicas } = pick;
  const isComplete = pick.isTrusted && pick.firstReplaced === null;
  const activated =
    activation === null ? { replicas, note: null } : activate(replicas, activation, { isComplete, snapshot });
  return decideWithinLimits(snapshot, metrics, { pick, isComplete, activation, activated, bounds });
}

function withBounds(snapshot: Snapshot, { minReplicas, maxReplicas }: Bounds): Snapshot {
  const { scaler } = snapshot;
  if (scaler.spec.schedules.length === 0) return snapshot;
  return { ...snapshot, scaler: { ...scaler, spec: { ...scaler.spec, minReplicas, maxReplicas } } };
}

interface ShortCut {
  readonly replicas: number;
  readonly steps: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  readonly reason: string;
}

/**
 * Returns the decision if it needs no metric, otherwise null. A count outside of the bounds moves to the nearest bound.
 * With `minReplicas` above 0, a 0 that was set manually stays. No limit applies. The upper bound is `highestMax`: if a
 * schedule has lowered `maxReplicas` further, the limits decide how fast the count falls to it. Source: algorithm.md,
 * point 22.
 */
function takeShortCut({ scaler, target, state }: Snapshot, bounds: Bounds, highest: number): ShortCut | null {
  const { minReplicas } = scaler.spec;
  const { specReplicas } = target;
  if (specReplicas === 0 && minReplicas > 0 && !state.zeroedBySelf) {
    const reason = 'scaling is disabled: another client has set the target to 0 replicas';
    return { replicas: 0, steps: [], conditions: [ABLE_TO_GET_SCALE, SCALING_DISABLED], reason };
  }
  if (specReplicas > highest) {
    const isInForce = highest === bounds.maxReplicas;
    const which = isInForce ? 'maxReplicas' : 'the highest maxReplicas of the document and its schedules';
    return toBound(specReplicas, {
      limit: 'max_replicas',
      to: highest,
      reason: `${countAre(specReplicas, 'replica')} above ${which} (${highest})`,
      until: null,
    });
  }
  if (specReplicas < minReplicas) {
    const isOwn = bounds.floor === null && bounds.clippedFloor === null;
    const which = isOwn ? `minReplicas (${minReplicas})` : `the floor: ${describeFloor(bounds)}`;
    return toBound(specReplicas, {
      limit: 'min_replicas',
      to: minReplicas,
      reason: `${countAre(specReplicas, 'replica')} below ${which}`,
      until: bounds.floor?.until ?? null,
    });
  }
  return null;
}

type Bound = Omit<LimitStep, 'from'>;

function toBound(from: number, { limit, to, reason, until }: Bound): ShortCut {
  return {
    replicas: to,
    steps: [{ limit, from, to, reason, until }],
    conditions: [ABLE_TO_GET_SCALE],
    reason,
  };
}

function decideByShortCut(snapshot: Snapshot, { replicas, steps, conditions, reason }: ShortCut): Decision {
  const state = buildNextState(snapshot, {
    desired: replicas,
    recommended: null,
    metrics: null,
    activation: null,
  });
  return buildDecision(snapshot, {
    desired: replicas,
    recommended: null,
    metrics: [],
    steps,
    conditions,
    reason,
    state,
  });
}

/**
 * Returns the decision that keeps the current count: no metric has a proposal, or the largest proposal is lower but the
 * count must not fall. Source: algorithm.md, step 4.
 */
function holdUntrusted(
  snapshot: Snapshot,
  metrics: readonly JudgedMetric[],
  { pick, activation }: { readonly pick: PickedProposal; readonly activation: Activation | null },
): Decision {
  const desired = snapshot.target.specReplicas;
  const why = whyUntrusted(metrics);
  const step = (from: number): LimitStep => ({
    limit: 'untrusted_metric',
    from,
    to: desired,
    reason: why,
    until: null,
  });
  return buildDecision(snapshot, {
    desired,
    recommended: pick.replicas,
    metrics,
    steps: pick.replicas === null ? [] : [step(pick.replicas)],
    conditions: [ABLE_TO_GET_SCALE, scalingActive(pick, { isHeld: true })],
    reason: `${why}: stays at ${desired}`,
    state: buildNextState(snapshot, { desired, recommended: null, metrics, activation }),
  });
}

function whyUntrusted(metrics: readonly JudgedMetric[]): string {
  const doubts = metrics.flatMap(({ spec, result }) => {
    const { fallback } = result;
    const doubt =
      fallback === undefined
        ? result.error === null
          ? result.partial
          : describeFailure(result.error)
        : describeFallback(fallback);
    return doubt === null ? [] : [`${spec.identity}: ${doubt}`];
  });
  return doubts.length === 0 ? 'there is no metric' : doubts.join('; ');
}

function decideWithinLimits(
  snapshot: Snapshot,
  metrics: readonly JudgedMetric[],
  {
    pick,
    isComplete,
    activation,
    activated,
    bounds,
  }: {
    readonly pick: PickedProposal;
    /** Whether every metric has a full value or is read as 0, so that no fallback is used. */
    readonly isComplete: boolean;
    readonly activation: Activation | null;
    readonly activated: Activated;
    readonly bounds: Bounds;
  },
): Decision {
  const { replicas: reactive, note, cooldown } = activated;
  const reactiveContext: LimitContext = {
    now: snapshot.now,
    spec: snapshot.scaler.spec,
    current: snapshot.target.specReplicas,
    recommended: reactive,
    bounds,
    queriedMax: ceilingOf(snapshot),
    recommendations: seedRecommendations(snapshot),
    state: snapshot.state,
  };
  const isAsleep = snapshot.target.specReplicas === 0;
  const forecast = forecastFor(snapshot, metrics, { context: reactiveContext, isComplete, isAsleep });
  const recommended = forecast?.recommended ?? reactive;
  const context = recommended === reactive ? reactiveContext : { ...reactiveContext, recommended };
  const limited = applyLimits(context);
  const desired = limited.replicas;
  return buildDecision(snapshot, {
    desired,
    recommended,
    metrics,
    steps: limited.steps,
    conditions: limitedConditions(context, limited, pick),
    reason: {
      recommended,
      winner: pick.winner,
      note,
      snapshot,
      ...(recommended > reactive ? { forecast: forecast?.result } : {}),
    },
    // The stabilization window stores the recommendation of the metrics (`reactive`): the higher recommendation of the
    // forecast must not delay a later scale-down.
    state: buildNextState(snapshot, {
      desired,
      recommended: reactive,
      metrics,
      activation,
      forecast: forecast?.state,
    }),
    forecast: forecast?.result,
    cooldown: desired === 1 && snapshot.target.specReplicas === 1 ? cooldown : undefined,
  });
}

interface Parts {
  readonly desired: number;
  readonly recommended: number | null;
  readonly metrics: readonly JudgedMetric[];
  readonly steps: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  /** The reason as text, or the facts from which `explainCount` writes it. */
  readonly reason: string | Measured;
  readonly state: Decision['state'];
  readonly cooldown?: Decision['cooldown'];
  /** Unset: the document has no forecast, or the decision used no metric. */
  readonly forecast?: ForecastResult | undefined;
}

function buildDecision({ scaler, target }: Snapshot, parts: Parts): Decision {
  const { desired, reason, steps } = parts;
  const counts = { currentReplicas: target.specReplicas, desiredReplicas: desired };
  const change = desired - target.specReplicas;
  return {
    currentReplicas: target.specReplicas,
    desiredReplicas: desired,
    action: change === 0 ? 'none' : change > 0 ? 'scale-up' : 'scale-down',
    reason: typeof reason === 'string' ? reason : explainCount({ ...counts, limits: steps }, reason),
    recommendedReplicas: parts.recommended,
    minReplicas: scaler.spec.minReplicas,
    maxReplicas: scaler.spec.maxReplicas,
    metrics: parts.metrics.map(({ result }) => result),
    limits: steps,
    conditions: parts.conditions,
    ...(parts.cooldown === undefined ? {} : { cooldown: parts.cooldown }),
    ...(parts.forecast === undefined ? {} : { forecast: parts.forecast }),
    state: parts.state,
  };
}
