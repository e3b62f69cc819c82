import type { Assumptions } from '../../../backtest/compare/variant.js';

/** One sentence for each thing that the result depends on and that was not measured, with the option that sets it. */
export function describeAssumptions(assumptions: Assumptions): readonly string[] {
  const { capacity, podStartSeconds, usageAtCapacityPercent, initialReplicas } = assumptions;
  const { scrapeIntervalSeconds, resourceWindowSeconds } = assumptions;
  return [
    `one pod carries a load of ${capacity} (--capacity); load above that, on the mean of 15 s, is lost, not queued`,
    `a pod is ready ${podStartSeconds} s after it was created (--pod-start)`,
    `a pod at its capacity uses ${usageAtCapacityPercent} % of its cpu request, and never more (--usage-at-capacity)`,
    'the load is divided evenly among the ready pods',
    `cpu is a mean over ${resourceWindowSeconds} s; a sample is ${scrapeIntervalSeconds / 2} s old (scrapeIntervalSeconds and resourceWindowSeconds of --config)`,
    initialReplicas === null
      ? 'the first replicas are the first demand (--initial-replicas)'
      : `the first replicas are ${initialReplicas} (--initial-replicas)`,
    'demand is the load of each 15 s divided by the capacity, rounded up, at least 1',
    'pauses, dry run, recovery holds and failures are not simulated',
  ];
}
