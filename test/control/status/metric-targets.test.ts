import { failed } from '../../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { metricTargets } from '../../../src/control/status/object-status.js';
import type { MetricResult } from '../../../src/decision/result/decision.js';
import type { MetricSpec } from '../../../src/scaler/spec.js';
import { externalMetric } from '../../support/builders.js';
import {
  CPU,
  MEMORY,
  QUEUE,
  decision,
  metricResult,
  record,
  scaler,
} from '../../telemetry/record-builder.js';

const RATE = externalMetric({
  name: 'rate',
  identity: 'rate',
  target: { type: 'AverageValue', milli: 20_500n },
});
const GONE = { error: failed('missing', 'no series'), current: {} };

function shown(metrics: readonly MetricSpec[], results: readonly Partial<MetricResult>[]): string {
  const made = decision({ metrics: results.map((result) => metricResult(result)) });
  return metricTargets({ record: record({ scaler: scaler('web', metrics), decision: made }) });
}

describe('metricTargets, in the form of kubectl get hpa', () => {
  it.each<[string, MetricSpec, Partial<MetricResult>, string]>([
    ['a utilization', CPU, { current: { averageUtilization: 44.6 } }, 'cpu: 45%/60%'],
    [
      'an average of memory',
      MEMORY,
      { current: { averageValue: 700 * 1024 } },
      'app/memory: 700Ki/900 (avg)',
    ],
    ['a value', QUEUE, { current: { value: 12.5 } }, 'queue-depth: 12.5/30'],
    ['an average', RATE, { current: { averageValue: 18 } }, 'rate: 18/20.5 (avg)'],
    [
      'an average over 0 replicas',
      RATE,
      { current: { averageValue: 0 }, ratio: null },
      'rate: <unknown>/20.5 (avg)',
    ],
    ['a metric without a value', CPU, GONE, 'cpu: <unknown>/60%'],
    ['a value of 0', QUEUE, { current: { value: 0 } }, 'queue-depth: 0/30'],
  ])('shows %s', (_, metric, result, text) => {
    expect(shown([metric], [result])).toBe(text);
  });

  it('shows two metrics and the number of others', () => {
    const results = [{}, { current: { value: 3 } }, {}, {}];

    expect(shown([CPU, QUEUE, MEMORY, RATE], results)).toBe('cpu: 55%/60%, queue-depth: 3/30 + 2 more...');
  });

  it('shows unknown values without a decision', () => {
    expect(metricTargets({ record: record({ decision: null }) })).toBe('cpu: <unknown>/60%');
  });
});
