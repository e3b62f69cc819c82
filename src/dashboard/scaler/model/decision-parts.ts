import { LIMIT_LABELS } from '../../../decision/result/limit-names.js';
import { listSome } from '../../../units/format.js';
import { groupBy } from '../../../units/maps.js';
import type { LimitStep, MetricResult, Outcome, PastDecision } from './answers.js';
import { OUTCOME_NAMES } from './changes.js';

/**
 * A bar: a `total` from 0 to `to`, or a `step` from `from` to `to`. `until`: when the limit of the step ends, in RFC
 * 3339; null: never, or unknown.
 */
export interface WaterfallRow {
  readonly kind: 'total' | 'step';
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly until: string | null;
}

export interface Waterfall {
  readonly rows: readonly WaterfallRow[];
  readonly current: number;
  /** The largest value of the scale, at least 1. */
  readonly top: number;
}

/**
 * Returns the steps from the largest proposal through each limit to the result, and then a step if the result was not
 * applied. Without a recommendation, the first bar is the current count, which schedules and bounds may still change.
 */
export function buildWaterfall(decision: PastDecision, outcome: Outcome | null): Waterfall {
  const { currentReplicas: current, desiredReplicas: desired } = decision;
  const rows = [
    ...startRows(decision),
    ...decision.limits.map(limitRow),
    total('Result', desired, desired === current ? 'no change' : `${current} → ${desired}`),
    ...(outcome === null ? [] : outcomeRows(outcome, decision)),
  ];
  const top = Math.max(1, current, ...rows.flatMap(({ from, to }) => [from, to]));
  return { rows, current, top };
}

function startRows(decision: PastDecision): readonly WaterfallRow[] {
  const { recommendedReplicas: recommended, currentReplicas: current, limits } = decision;
  if (recommended === null) {
    const [first] = limits;
    const start = first?.from ?? current;
    return [total('Current', start, 'no recommendation')];
  }
  const largest = largestProposal(decision);
  if (largest === null) return [total('Recommended', recommended, '')];
  const start = total(
    'Largest proposal',
    largest.replicas,
    largest.names.length === 0 ? '' : listSome(largest.names, MOST_NAMES),
  );
  if (largest.replicas === recommended) return [start];
  const step: WaterfallRow = {
    kind: 'step',
    label: 'Activation',
    from: largest.replicas,
    to: recommended,
    reason: `${recommended} recommended`,
    until: null,
  };
  return [start, step];
}

function largestProposal({
  metrics,
}: PastDecision): { readonly replicas: number; readonly names: readonly string[] } | null {
  const proposals = metrics.flatMap(({ proposal }) => (proposal === null ? [] : [proposal]));
  if (proposals.length === 0) return null;
  const replicas = Math.max(...proposals);
  return {
    replicas,
    names: [...new Set(metrics.filter(({ proposal }) => proposal === replicas).map(({ name }) => name))],
  };
}

function limitRow({ limit, from, to, reason, until }: LimitStep): WaterfallRow {
  return { kind: 'step', label: LIMIT_LABELS[limit], from, to, reason, until };
}

/**
 * Returns the step from the result to the count that the target has instead; empty: the result was applied. Causes are
 * a pause, a dry run, or a rejected or lost PATCH.
 */
function outcomeRows(
  { kind, from, to, message }: Outcome,
  { desiredReplicas: desired, currentReplicas: current }: PastDecision,
): readonly WaterfallRow[] {
  if (kind === 'none') return [];
  if (kind === 'patched' || kind === 'replaced') {
    return to === null || to === desired
      ? []
      : [step(OUTCOME_NAMES[kind], { from: desired, to, reason: message })];
  }
  return [step(OUTCOME_NAMES[kind], { from: desired, to: from ?? current, reason: message })];
}

function step(
  label: string,
  { from, to, reason }: { readonly from: number; readonly to: number; readonly reason: string },
): WaterfallRow {
  return { kind: 'step', label, from, to, reason, until: null };
}

function total(label: string, to: number, reason: string): WaterfallRow {
  return { kind: 'total', label, from: 0, to, reason, until: null };
}

const MOST_NAMES = 3;

const POD_GROUPS = ['ready', 'unready', 'missing', 'ignored'] as const;

export interface PodGroup {
  readonly name: (typeof POD_GROUPS)[number];
  readonly count: number;
  /** The pods by reason; the reason with the most pods is first. Ready pods have no reason. */
  readonly parts: readonly { readonly reason: string | null; readonly pods: readonly string[] }[];
}

/** Returns the groups that have pods. */
export function groupPods({ pods, podReasons }: MetricResult): readonly PodGroup[] {
  return POD_GROUPS.filter((name) => pods[name].length > 0).map((name) => ({
    name,
    count: pods[name].length,
    parts: name === 'ready' ? [{ reason: null, pods: pods[name] }] : byReason(pods[name], podReasons),
  }));
}

function byReason(names: readonly string[], reasons: MetricResult['podReasons']): PodGroup['parts'] {
  const reasonOf = (name: string): string =>
    (Object.hasOwn(reasons, name) ? reasons[name] : undefined) ?? 'reason not known';
  const groups = Array.from(groupBy(names, reasonOf), ([reason, pods]) => ({ reason, pods }));
  return groups.sort((a, b) => b.pods.length - a.pods.length);
}
