import { decide } from '../../../src/decision/decide.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../../src/decision/snapshot/snapshot.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { noChange } from '../../../src/telemetry/cycle-record.js';
import type { CycleRecord, Outcome } from '../../../src/telemetry/cycle-record.js';
import { addSeconds, type Instant } from '../../../src/units/time.js';
import { aDocument } from '../../support/builders.js';

/** Records of scalers as the control loop makes them. */
export interface Fleet {
  readonly scalers: readonly Scaler[];
  /** The record of the scaler at an index in a round. */
  readonly recordOf: (index: number, round: number) => CycleRecord;
  /** A record that changes the replicas. */
  readonly rescaleOf: (index: number, round: number) => CycleRecord;
  /** A scaler with 100 metrics that decides nothing, for its history over days. */
  readonly wide: Scaler;
}

const PODS = 10;
const NAMESPACES = 50;
const PERIOD_SECONDS = 15;
const START = '2026-01-01T01:00:00Z';
export const WIDE_METRICS = 100;
/** Index of the scaler whose pages are measured, `team-07/web-00007`. */
export const WITH_HISTORY = 7;

export function createFleet(size: number): Fleet {
  const base = snapshotOf();
  const scalers = Array.from({ length: size }, (_, index): Scaler => {
    const name = `web-${String(index).padStart(5, '0')}`;
    const namespace = `team-${String(index % NAMESPACES).padStart(2, '0')}`;
    const scaleTargetRef = { ...base.scaler.spec.scaleTargetRef, name };
    return { ...base.scaler, namespace, name, spec: { ...base.scaler.spec, scaleTargetRef } };
  });
  const timeOf = (round: number): Instant => addSeconds(base.now, round * PERIOD_SECONDS);
  const recordOf = (index: number, round: number): CycleRecord => {
    const scaler = scalers[index] ?? base.scaler;
    const now = timeOf(round);
    const snapshot: Snapshot = { ...base, scaler, now, samples: samplesOf(base, now, (index + round) % 7) };
    const decision = decide(snapshot);
    return {
      scaler,
      at: now,
      snapshot,
      decision,
      outcome: noChange(decision.currentReplicas),
      conditions: decision.conditions,
      pause: null,
      dryRun: false,
      seconds: { observe: 0.001, decide: 0.0001, act: 0 },
    };
  };
  return {
    scalers,
    recordOf,
    rescaleOf: (index, round) => {
      const outcome: Outcome = { kind: 'patched', from: PODS, to: PODS + 1, message: '' };
      return { ...recordOf(index, round), outcome };
    },
    wide: wideScaler(),
  };
}

/** The values differ from round to round, as those of real workloads, and stay within the tolerance. */
function samplesOf({ samples }: Snapshot, now: Instant, step: number): Snapshot['samples'] {
  return samples.map((sample) =>
    sample.form === 'containers'
      ? {
          ...sample,
          at: now,
          values: sample.values.map((cores) => cores * (1 + step / 500)),
        }
      : { ...sample, at: now },
  );
}

function snapshotOf(): Snapshot {
  const names = Array.from({ length: PODS }, (_, index) => `web-6d4cf56db6-${index}`);
  const long = '2025-12-01T00:00:00Z';
  return parseSnapshot({
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      minReplicas: 2,
      maxReplicas: 20,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
    }),
    now: START,
    target: { specReplicas: PODS },
    pods: names.map((name) => ({
      name,
      phase: 'Running',
      startTime: long,
      ready: true,
      readyChangedAt: long,
      requests: { app: { cpu: '500m' } },
    })),
    samples: [
      {
        at: START,
        windowSeconds: 60,
        containers: Object.fromEntries(names.map((name, index) => [name, { app: 0.28 + (index % 7) / 100 }])),
      },
    ],
    state: { recommendations: [] },
  });
}

function wideScaler(): Scaler {
  const metrics = Array.from({ length: WIDE_METRICS }, (_, index) => ({
    external: { metric: { name: `m${index}` }, query: `sum(m${index})`, target: { value: 30 } },
  }));
  const document = aDocument(
    { scaleTargetRef: { name: 'wide' }, maxReplicas: 10, metrics },
    { name: 'wide' },
  );
  return parseSnapshot({
    scaler: document,
    now: START,
    target: { specReplicas: 1 },
    pods: [],
    samples: metrics.map(() => ({ error: 'no answer' })),
    state: { recommendations: [] },
  }).scaler;
}
