import { KubernetesError } from '../../kubernetes/api/types.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { podsPattern } from '../../promql/pods-pattern.js';
import { quoteRegex, stringLiteral } from '../../promql/quoting.js';
import { vectorSelectors, withMatcher } from '../../promql/vector-selectors.js';
import { POD_LABELS, selectsOwnPods, whatStarts } from '../../scaler/rules/activation-rules.js';
import { isOfTotal, type MetricSpec, OTHER_WORK, type Scaler, type ScalerSpec } from '../../scaler/spec.js';
import { nameMetric } from '../../decision/conditions.js';
import { onlyValue, type Checked, type CheckResult } from './check-result.js';
import type { SourceContext } from './context.js';
import { type ScalerFacts, readPods, replicasOf } from './scaler-facts.js';

/** If the workload has 0 replicas, the series of this last period show whether its pods exposed them. */
const LOOK_BACK = '1d';
/** Limits the queries of a check. */
const MAX_SELECTORS = 6;

/**
 * Checks whether a workload that is scaled to 0 can start again. It cannot if only its own pods expose the series of
 * all metrics that could start it. The rule `never-wakes-up` finds queries that name the pods; this check finds other
 * queries (`service="web"`) by the labels of their series.
 */
export async function checkWakeUp(facts: Checked<ScalerFacts>): Promise<CheckResult> {
  const { scaler, sources, make } = facts;
  const { spec } = scaler;
  const zero = zeroPath(spec);
  const metrics = spec.metrics.filter(isOfTotal);
  const [first] = metrics;
  if (zero === null || first === undefined) return make.ok('');
  const isAtZero = hasNoReplicas(facts);
  const { name } = spec.scaleTargetRef;
  if (!isAtZero && metrics.every(({ query }) => selectsOwnPods(name, query))) return make.ok('');
  for (const metric of metrics) {
    const context = sources.get(metric.source);
    const isOwn =
      context !== undefined &&
      (await isExposedByOwnPods(metric, { scaler, context, isAtZero, addresses: addressesOf(facts) }));
    if (!isOwn) return make.ok('');
  }
  const who = nameTarget(scaler.namespace, spec.scaleTargetRef);
  const starts = whatStarts(spec);
  if (!isAtZero)
    return make.warning(
      `${nameMetric(first)}: only the pods of ${who} expose its series, and ${zero} is 0. At 0 replicas, the metric has no series, so ${starts.text}`,
      `set ${zero}: 1, or query ${OTHER_WORK}`,
    );
  return make[starts.isNever ? 'failed' : 'warning'](
    `${who} has 0 replicas, and only its own pods exposed the series of ${nameMetric(first)} in the last ${LOOK_BACK}: while ${zero} is 0, ${starts.text}`,
    `set ${zero}: 1 (starts 1 replica, unless another client has set the workload to 0). Before you set 0 again, let the metric query ${OTHER_WORK}`,
  );
}

/** Limits the length of a query. */
const MAX_ADDRESSES = 100;

/** Returns the IP addresses of the pods, which Prometheus writes to the label `instance`; empty: they are not known. */
function addressesOf({ cluster }: Pick<ScalerFacts, 'cluster'>): readonly string[] {
  const addresses = (readPods(cluster) ?? []).map(({ ip }) => ip);
  return addresses.length > MAX_ADDRESSES ? [] : addresses.filter((ip) => ip !== null);
}

/** Returns whether the target was read and has 0 replicas. */
export function hasNoReplicas(facts: Pick<ScalerFacts, 'cluster'>): boolean {
  return replicasOf(facts) === 0;
}

/** Returns whether the target does not exist, or cannot exist because the cluster does not serve its kind. */
export function isTargetMissing({ cluster }: Pick<ScalerFacts, 'cluster'>): boolean {
  return cluster?.target instanceof KubernetesError && cluster.target.kind === 'not_found';
}

/**
 * Returns why a metric cannot have a value, because its series belong to pods of the target; null: it can have a value.
 */
export function whyNoPods(metric: MetricSpec, facts: Pick<ScalerFacts, 'cluster'>): string | null {
  if (isOfTotal(metric)) return null;
  if (isTargetMissing(facts)) return 'the target does not exist';
  return hasNoReplicas(facts) ? 'the target has 0 replicas' : null;
}

/** Returns the path of the minimum that is 0; null: there is none. */
function zeroPath({ minReplicas, schedules }: ScalerSpec): string | null {
  if (minReplicas === 0) return 'spec.minReplicas';
  const index = schedules.findIndex((schedule) => schedule.minReplicas === 0);
  return index < 0 ? null : `spec.schedules[${index}].minReplicas`;
}

/**
 * Returns whether only pods of the target expose the series that the query selects. With `isAtZero`, checks the series
 * of the last day instead of the current series. False if there are no series. A series without the label `namespace`
 * counts as a series in the namespace of the scaler. A series that names its pod only by the address in `instance`
 * counts if `addresses` contains the address; the addresses of deleted pods are unknown.
 */
export async function isExposedByOwnPods(
  metric: MetricSpec,
  {
    scaler,
    context,
    isAtZero,
    addresses = [],
  }: {
    readonly scaler: Scaler;
    readonly context: SourceContext;
    readonly isAtZero: boolean;
    readonly addresses?: readonly string[];
  },
): Promise<boolean> {
  const { namespace, spec } = scaler;
  const selectors = vectorSelectors(metricQueryText(metric, scaler, context.source) ?? '');
  if (selectors.length === 0 || selectors.length > MAX_SELECTORS) return false;
  const pods = stringLiteral(podsPattern(spec.scaleTargetRef.kind, spec.scaleTargetRef.name));
  const here = `namespace=~${stringLiteral(`${quoteRegex(namespace)}|`)}`;
  const read = (selector: string): string =>
    isAtZero ? `last_over_time(${selector}[${LOOK_BACK}])` : selector;
  const instance = stringLiteral(`\\[?(${addresses.map(quoteRegex).join('|')})\\]?(:[0-9]+)?`);
  const matchers = [
    ...POD_LABELS.map((label) => `${label}=~${pods}`),
    ...(isAtZero || addresses.length === 0 ? [] : [`instance=~${instance}`]),
  ];
  for (const selector of selectors) {
    const own = matchers.map((matcher) => read(withMatcher(selector, `${matcher}, ${here}`))).join(' or ');
    const others = onlyValue(await context.runQuery(`count(${read(selector.text)}) - count(${own})`));
    if (others !== 0) return false;
  }
  return true;
}
