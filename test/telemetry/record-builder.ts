import type { Condition } from '../../src/decision/result/condition.js';
import type { Decision, LimitStep, MetricResult } from '../../src/decision/result/decision.js';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import type { State } from '../../src/decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../src/scaler/spec.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { noChange } from '../../src/telemetry/cycle-record.js';
import type { ConflictingWriter } from '../../src/decision/state.js';
import type { CycleRecord } from '../../src/telemetry/cycle-record.js';
import type { Ledger } from '../../src/telemetry/ledger.js';
import type { Outages } from '../../src/telemetry/outages.js';
import type { MetricsDetail } from '../../src/telemetry/metric-table.js';
import type { InvalidScaler } from '../../src/telemetry/scaler-series.js';
import { createMetrics, createRegistry } from '../../src/telemetry/metrics.js';
import type { Metrics } from '../../src/telemetry/metrics.js';
import { aScaler, at, cpuMetric, externalMetric } from '../support/builders.js';

export const CPU: MetricSpec = { ...cpuMetric, target: { type: 'Utilization', percent: 60 } };

export const MEMORY: MetricSpec = {
  type: 'ContainerResource',
  name: 'memory',
  container: 'app',
  identity: 'app/memory',
  source: 'default',
  target: { type: 'AverageValue', milli: 900_000n },
};

export const QUEUE: MetricSpec = externalMetric({
  name: 'queue-depth',
  identity: 'queue-depth',
  target: { type: 'Value', milli: 30_000n },
});

export function scaler(name = 'web', metrics: readonly MetricSpec[] = [CPU]): Scaler {
  return aScaler(metrics, 'shop', name);
}

/** Returns the scaler `web`, or another one, of a namespace. */
export function scalerIn(namespace: string, name = 'web'): Scaler {
  return aScaler([CPU], namespace, name);
}

export function metricResult(overrides: Partial<MetricResult> = {}): MetricResult {
  return {
    name: 'cpu',
    proposal: 3,
    current: { averageUtilization: 55, averageValue: 0.11 },
    ratio: 0.92,
    error: null,
    partial: null,
    pods: { ready: ['a', 'b'], unready: ['c'], missing: [], ignored: ['d'] },
    podReasons: { c: 'not ready', d: 'deleting' },
    ...overrides,
  };
}

export function limitStep(overrides: Partial<LimitStep> = {}): LimitStep {
  return {
    limit: 'stabilization',
    from: 2,
    to: 3,
    reason: 'a recommendation of 3',
    until: null,
    ...overrides,
  };
}

export function condition(overrides: Partial<Condition> = {}): Condition {
  return { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: '', ...overrides };
}

export function decision(overrides: Partial<Decision> = {}): Decision {
  return {
    currentReplicas: 3,
    desiredReplicas: 3,
    action: 'none',
    reason: 'cpu is within the tolerance',
    recommendedReplicas: 3,
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [metricResult()],
    limits: [],
    conditions: [condition()],
    state: EMPTY_STATE,
    ...overrides,
  };
}

/** A cycle that changed nothing; `state` is that of its snapshot. */
export function record(
  overrides: Partial<CycleRecord> & { readonly state?: Partial<State> } = {},
): CycleRecord {
  const { state, ...rest } = overrides;
  const of = rest.scaler ?? scaler();
  const now = rest.at ?? at(0);
  const made = rest.decision === undefined ? decision() : rest.decision;
  return {
    scaler: of,
    at: now,
    snapshot: {
      scaler: of,
      now,
      target: { specReplicas: 3, statusReplicas: 3 },
      pods: [],
      samples: [],
      state: { ...EMPTY_STATE, ...state },
    },
    decision: made,
    outcome: noChange(3),
    conditions: made?.conditions ?? [],
    pause: null,
    dryRun: false,
    seconds: { observe: 0.01, decide: 0.001, act: 0 },
    ...rest,
  };
}

interface MetricsChoice {
  readonly process?: boolean;
  readonly detail?: MetricsDetail;
  readonly invalid?: () => readonly InvalidScaler[];
}

/** Metrics of a ledger with one data source. */
export function metricsOf(ledger: Ledger, { process = false, ...others }: MetricsChoice = {}): Metrics {
  return createMetrics(createRegistry({ process }), {
    ledger,
    ...others,
    version: '1.2.3',
    clock: SYSTEM_CLOCK,
    sources: ['default'],
  });
}

/** Attributes each failure to its scaler alone. */
export const NO_OUTAGES: Pick<Outages, 'attribute' | 'isAttributed' | 'takeAttributed' | 'forget'> = {
  attribute: (_failure, write) => write(true),
  isAttributed: () => false,
  takeAttributed: () => false,
  forget: () => undefined,
};

/** Returns a conflict with a client that has replaced the count three times, the last time in the default cycle. */
export function conflictWith(
  managers: readonly string[],
  message = `${managers.join(', ')} changed it`,
): ConflictingWriter {
  const [since, until] = ['2026-01-01T00:00:00Z', '2026-01-01T00:10:00Z'];
  return { managers, since, count: 3, last: since, until, message };
}
