import type { Pod } from '../../decision/snapshot/snapshot.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { resourceQuery } from '../../prometheus/data-source/resource-queries.js';
import { podsPattern } from '../../promql/pods-pattern.js';
import { stringLiteral } from '../../promql/quoting.js';
import { vectorSelectors, withMatcher } from '../../promql/vector-selectors.js';
import { type CpuMetric, isCpu, isOfResource, type ScalerSpec } from '../../scaler/spec.js';
import { milliToNumber } from '../../units/quantity.js';
import { onlyValue, type Checked, type CheckResult } from './check-result.js';
import { type ScalerFacts, readPods } from './scaler-facts.js';

/** Minimum rise for a warning. By default, a decision at most doubles the replicas, so a workload cannot follow. */
const SPIKE_FACTOR = 3;
const RISE = '5m';
const LOOK_BACK = '6h';
/**
 * Maximum number of scalers for this check: each needs a query over `LOOK_BACK`, and all checks must end within a
 * minute.
 */
const MOST_SCALERS = 50;

/**
 * Warns about loads that rise faster than a workload can follow. Checks only scalers whose metrics are all resource
 * metrics.
 */
export async function checkSpikes(facts: Checked<ScalerFacts>): Promise<CheckResult> {
  const { scaler, cluster, sources, context, make } = facts;
  const { metrics } = scaler.spec;
  const cpu = metrics.find(isCpu);
  const source = cpu === undefined ? undefined : sources.get(cpu.source);
  const pods = readPods(cluster);
  if (cpu === undefined || source === undefined || pods === null) return make.ok('');
  if (!metrics.every(isOfResource) || (context?.scalers.length ?? 0) > MOST_SCALERS) return make.ok('');
  const coresPerPod = targetCores(cpu, pods[0]?.pod);
  const query = resourceQuery(source.source, 'cpu', [scaler.namespace]) ?? '';
  const usage = usageOf(query, scaler.spec);
  if (coresPerPod === null || usage === null) return make.ok('');
  // A lower usage counts as this usage, because the minimum replicas can serve it.
  const least = coresPerPod * Math.max(1, scaler.spec.minReplicas);
  const before = `clamp_min(last_over_time((${usage})[1m:1m] offset ${RISE}), ${least})`;
  const answer = await source.runQuery(`max_over_time((${usage} / ${before})[${LOOK_BACK}:1m])`);
  const factor = onlyValue(answer);
  if (factor === null || !(factor >= SPIKE_FACTOR)) return make.ok('');
  const who = nameTarget(scaler.namespace, scaler.spec.scaleTargetRef);
  return make.warning(
    `in the last ${LOOK_BACK}, the CPU of ${who} rose to ${Math.round(factor * 10) / 10} times its value within ${RISE}. CPU metrics show such a rise late: the CPU usage of a pod cannot exceed its limit, and the usage of a new pod counts only after the pod has been ready for the window of the query`,
    'scale on a metric of the whole load: requests per second of the service, or jobs in the queue, as an External metric with averageValue',
  );
}

/** Returns the target in cores for each pod; null: the target is a utilization and the pod has no request. */
function targetCores({ target }: CpuMetric, pod: Pod | undefined): number | null {
  if (target.type !== 'Utilization') return milliToNumber(target.milli);
  if (pod === undefined) return null;
  const own = pod.podRequests?.get('cpu');
  const milli = own ?? [...pod.requests.values()].reduce((sum, one) => sum + (one.get('cpu') ?? 0n), 0n);
  return milli === 0n ? null : (milliToNumber(milli) * target.percent) / 100;
}

/** Returns the query for the cores of the workload; null: the resource query has unusual labels. */
function usageOf(query: string, { scaleTargetRef: { kind, name } }: ScalerSpec): string | null {
  const selectors = vectorSelectors(query);
  const [selector] = selectors;
  const isUsual = selector?.matchers.some(({ label }) => label === 'container') === true;
  if (selector === undefined || !isUsual || selectors.some(({ text }) => text !== selector.text)) return null;
  const ofPods = `pod=~${stringLiteral(podsPattern(kind, name))}`;
  const own = withMatcher(selector, ofPods);
  return `sum(${query.replaceAll(selector.text, own)})`;
}
