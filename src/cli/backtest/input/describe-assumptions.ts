import { SERVICE_DEFAULTS } from '../../../config/service-defaults.js';
import type { Demand } from '../../../backtest/figures/demand.js';
import { isLeftOut } from '../../../backtest/simulation/trace-models.js';
import type { Assumptions, Variant } from '../../../backtest/compare/variant.js';

/** Returns whether a document has a CPU metric. */
export function usesCpu(variants: readonly Variant[]): boolean {
  return variants.some(({ scaler }) =>
    scaler.spec.metrics.some(
      ({ type, name }) => (type === 'Resource' || type === 'ContainerResource') && name === 'cpu',
    ),
  );
}

/** Returns one sentence for each assumption that the result depends on, with the option that sets it. */
export function describeAssumptions(
  assumptions: Assumptions,
  variants: readonly Variant[],
  { hasConfig }: { readonly hasConfig: boolean },
): readonly string[] {
  const { capacity, podStartSeconds, usageAtCapacityPercent, initialReplicas } = assumptions;
  const { scrapeIntervalSeconds, resourceWindowSeconds } = assumptions;
  const isOfCpu = usesCpu(variants);
  const given = (field: 'resourceWindowSeconds' | 'scrapeIntervalSeconds'): string => {
    if (hasConfig) return `(${field} of --config)`;
    return assumptions[field] === SERVICE_DEFAULTS[field]
      ? `(the default of ${field}; --config sets it)`
      : `(${field} of the saved history)`;
  };
  return [
    `one pod carries a load of ${round(capacity)} (--capacity); load above that, on the mean of 15 s, is lost, not queued`,
    `a pod is ready ${round(podStartSeconds)} s after it was created (--pod-start)`,
    ...(isOfCpu
      ? [
          `a pod at its capacity uses ${usageAtCapacityPercent} % of its cpu request, and never more (--usage-at-capacity)`,
        ]
      : []),
    'the load is divided evenly among the ready pods',
    ...(isOfCpu ? [`cpu is a rate over ${resourceWindowSeconds} s ${given('resourceWindowSeconds')}`] : []),
    `a rate is the mean between the first and the last sample of its window, ${scrapeIntervalSeconds} s less than the window`,
    `a sample is ${scrapeIntervalSeconds / 2} s old, half of the scrape interval ${given('scrapeIntervalSeconds')}`,
    initialReplicas === null
      ? 'the first replicas are the first demand (--initial-replicas)'
      : `the first replicas are ${initialReplicas} (--initial-replicas)`,
    'demand is the load of each 15 s divided by the capacity, rounded up, at least 1',
    'pauses, dry run, recovery holds and failures are not simulated',
  ];
}

/** Names the metrics for which a load trace has no information. */
export function leftOutLines(variants: readonly Variant[]): readonly string[] {
  const names = variants.flatMap(({ scaler }) => scaler.spec.metrics.filter(isLeftOut));
  const distinct = [...new Set(names.map(({ identity }) => identity))];
  if (distinct.length === 0) return [];
  return [`a load trace has no usage of ${distinct.join(', ')}, which is left out (--prometheus has it)`];
}

/** Returns a sentence about the share of the time without load. */
export function unscoredLines({ pods }: Demand): readonly string[] {
  const unknown = pods.reduce((count, needed) => count + (Number.isNaN(needed) ? 1 : 0), 0);
  // Half of the last window always lacks values.
  if (100 * unknown < pods.length) return [];
  const percent = Number(((100 * unknown) / pods.length).toPrecision(2));
  return [`the load is unknown for ${percent} % of this time, which is not scored`];
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
