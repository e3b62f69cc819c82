import type {
  DecisionEntry,
  MetricResult,
  PastDecision,
} from '../../../src/dashboard/scaler/model/answers.js';

export function metric(
  name: string,
  proposal: number | null,
  more: Partial<MetricResult> = {},
): MetricResult {
  return {
    name,
    proposal,
    current: {},
    ratio: null,
    error: proposal === null ? 'no series' : null,
    partial: null,
    pods: { ready: [], unready: [], missing: [], ignored: [] },
    podReasons: {},
    ...more,
  };
}

/** 4 replicas, 9 recommended by cpu, 6 by maxReplicas. */
export function decision(more: Partial<PastDecision> = {}): PastDecision {
  return {
    currentReplicas: 4,
    desiredReplicas: 6,
    action: 'scale-up',
    reason: 'cpu is at 135 % of the requests, target 60 %: 4 -> 6, 9 recommended, 6 by max_replicas',
    recommendedReplicas: 9,
    minReplicas: 1,
    maxReplicas: 6,
    metrics: [metric('cpu', 9), metric('queue', 3)],
    limits: [{ limit: 'max_replicas', from: 9, to: 6, reason: 'maxReplicas is 6', until: null }],
    conditions: [],
    ...more,
  };
}

export function entry(more: Partial<DecisionEntry> = {}): DecisionEntry {
  return {
    firstAt: '2026-01-01T10:00:00Z',
    lastAt: '2026-01-01T10:00:00Z',
    count: 1,
    state: { name: 'OK', severity: 'ok', cause: null, since: null, until: null },
    outcome: { kind: 'patched', from: 4, to: 6, message: '' },
    conditions: [],
    decision: decision(),
    ...more,
  };
}
