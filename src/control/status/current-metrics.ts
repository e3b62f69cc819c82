import type { CurrentValue, MetricResult } from '../../decision/result/decision.js';
import type { MetricSpec } from '../../scaler/spec.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { formatAmount } from '../../units/format-amount.js';

/**
 * As in autoscaling/v2: integer percentage, quantities as strings, unknown values unset. The quantities are those of the
 * column TARGETS.
 */
interface CurrentValueStatus {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
  readonly value?: string;
}

interface NamedMetric {
  readonly metric: { readonly name: string };
  readonly current: CurrentValueStatus;
}

export type MetricStatus =
  | {
      readonly type: 'Resource';
      readonly resource: { readonly name: string; readonly current: CurrentValueStatus };
    }
  | {
      readonly type: 'ContainerResource';
      readonly containerResource: {
        readonly name: string;
        readonly container: string;
        readonly current: CurrentValueStatus;
      };
    }
  | { readonly type: 'Pods'; readonly pods: NamedMetric }
  | {
      readonly type: 'Object';
      readonly object: NamedMetric & {
        readonly describedObject?: {
          readonly apiVersion: string;
          readonly kind: string;
          readonly name: string;
        };
      };
    }
  | { readonly type: 'External'; readonly external: NamedMetric };

/** Returns the metrics that have a value, in the order of the document. A missing value is omitted, never 0. */
export function currentMetrics({ record }: Pick<ScalerStatus, 'record'>): readonly MetricStatus[] {
  const results = record.decision?.metrics ?? [];
  return record.scaler.spec.metrics.flatMap((spec, index) => {
    const current = currentValue(results[index], spec.name);
    return current === null ? [] : [metricStatus(spec, current)];
  });
}

function currentValue(result: MetricResult | undefined, name: string): CurrentValueStatus | null {
  if (result === undefined || result.error !== null) return null;
  const { averageUtilization, averageValue, value }: CurrentValue = result.current;
  const known = {
    ...(averageUtilization === undefined ? {} : { averageUtilization: Math.round(averageUtilization) }),
    ...(averageValue === undefined ? {} : { averageValue: formatAmount(averageValue, name) }),
    ...(value === undefined ? {} : { value: formatAmount(value, name) }),
  };
  return Object.keys(known).length === 0 ? null : known;
}

function metricStatus(spec: MetricSpec, current: CurrentValueStatus): MetricStatus {
  const named = { metric: { name: spec.name }, current };
  switch (spec.type) {
    case 'Resource':
      return { type: spec.type, resource: { name: spec.name, current } };
    case 'ContainerResource':
      return {
        type: spec.type,
        containerResource: { name: spec.name, container: spec.container, current },
      };
    case 'Pods':
      return { type: spec.type, pods: named };
    case 'Object': {
      const { describedObject } = spec;
      return { type: spec.type, object: describedObject === null ? named : { ...named, describedObject } };
    }
    case 'External':
      return { type: spec.type, external: named };
    default:
      return spec satisfies never;
  }
}
