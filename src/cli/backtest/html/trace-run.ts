import { runOn, type Variant } from '../../../backtest/compare/variant.js';
import { type BandBuilder, createBand } from '../../../backtest/report/band.js';
import type { PageChange, PageMetric } from '../../../backtest/report/page-data.js';
import type { Decision } from '../../../decision/result/decision.js';
import type { MetricSpec } from '../../../scaler/spec.js';
import { milliToNumber } from '../../../units/quantity.js';
import { addSeconds, secondsBetween } from '../../../units/time.js';
import { explainLines } from '../../explain/explain-lines.js';
import type { Scene } from '../scene/scene.js';
import type { Explanations } from './explanations.js';

export interface RunTrace {
  readonly metrics: readonly PageMetric[];
  readonly changes: readonly PageChange[];
}

/** Runs a document again and notes its metrics, and the explanation of each change. */
export function traceRun(variant: Variant, scene: Scene, explanations: Explanations): RunTrace {
  const { start, end } = scene.scoring.demand;
  const { metrics, syncPeriodSeconds } = variant.scaler.spec;
  const bands = metrics.map(() => createBand(start, end));
  const changes: PageChange[] = [];
  runOn(scene.world, variant, scene, (decision, snapshot) => {
    const { now } = snapshot;
    addMetrics(bands, decision, (band, value) => band.add(value, now, addSeconds(now, syncPeriodSeconds)));
    if (decision.action === 'none') return;
    const { currentReplicas: from, desiredReplicas: to } = decision;
    const lines = explanations.add(explainLines({ snapshot, decision, status: null, now }));
    changes.push({ at: secondsBetween(start, now), from, to, lines });
  });
  return {
    metrics: metrics.map((metric, index) => ({
      name: metric.identity,
      isPercent: metric.target.type === 'Utilization',
      target: targetOf(metric),
      value: bands[index]?.finish() ?? { low: [], high: [] },
    })),
    changes,
  };
}

function addMetrics(
  bands: readonly BandBuilder[],
  { metrics }: Decision,
  add: (band: BandBuilder, value: number) => void,
): void {
  bands.forEach((band, index) => {
    const result = metrics[index];
    if (result === undefined || result.error !== null) return;
    const { averageUtilization, averageValue, value } = result.current;
    const shown = averageUtilization ?? averageValue ?? value;
    if (shown !== undefined) add(band, shown);
  });
}

function targetOf({ target }: MetricSpec): number {
  return target.type === 'Utilization' ? target.percent : milliToNumber(target.milli);
}
