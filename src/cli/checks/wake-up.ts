import { KubernetesError } from '../../kubernetes/api/types.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { podsPattern } from '../../promql/pods-pattern.js';
import { quoteRegex, stringLiteral } from '../../promql/quoting.js';
import { vectorSelectors, withMatcher } from '../../promql/vector-selectors.js';
import { POD_LABELS, selectsOwnPods } from '../../scaler/rules/activation-rules.js';
import {
  isOfTotal,
  type MetricSpec,
  OTHER_WORK,
  type Scaler,
  type ScalerSpec,
  scalerKey,
} from '../../scaler/spec.js';
import { nameMetric } from '../../decision/conditions.js';
import { type CheckResult, onlyValue, resultsOf } from './check-result.js';
import type { SourceContext } from './context.js';
import type { ScalerFacts } from './scaler-facts.js';

/** If the workload has 0 replicas, the series of this last period show whether its pods exposed them. */
const LOOK_BACK = '1d';
/** Limits the queries of a check. */
const MAX_SELECTORS = 6;

/**
 * Checks whether a workload that is scaled to 0 can start again: all metrics that could start it may have series of its
 * own pods only. The rule `never-wakes-up` finds queries that name the pods; this check finds the others
 * (`service="web"`) by the labels of their series.
 */
export async function checkWakeUp(facts: ScalerFacts): Promise<readonly CheckResult[]> {
  const { scaler, sources } = facts;
  const { spec } = scaler;
  const make = resultsOf('wake-up', scalerKey(scaler));
  const zero = zeroPath(spec);
  const metrics = spec.metrics.filter(isOfTotal);
  const [first] = metrics;
  if (zero === null || first === undefined) return [make.ok('')];
  const isAtZero = hasNoReplicas(facts);
  const { name } = spec.scaleTargetRef;
  if (!isAtZero && metrics.every(({ query }) => selectsOwnPods(name, query))) return [make.ok('')];
  for (const metric of metrics) {
    const context = sources.get(metric.source);
    const isOwn = context !== undefined && (await isExposedByOwnPods(metric, { scaler, context, isAtZero }));
    if (!isOwn) return [make.ok('')];
  }
  const who = nameTarget(scaler.namespace, spec.scaleTargetRef);
  if (!isAtZero)
    return [
      make.warning(
        `${nameMetric(first)}: only the pods of ${who} expose its series, and ${zero} is 0. At 0 replicas, the metric has no series, so nothing starts the workload again`,
        `set ${zero}: 1, or query ${OTHER_WORK}`,
      ),
    ];
  return [
    make.failed(
      `${who} has 0 replicas, and only its own pods exposed the series of ${nameMetric(first)} in the last ${LOOK_BACK}: nothing starts the workload again while ${zero} is 0`,
      `set ${zero}: 1, which starts 1 replica unless a person has scaled the workload to 0; to scale to 0 again, query ${OTHER_WORK}`,
    ),
  ];
}

/** Returns whether the target was read and has 0 replicas. */
export function hasNoReplicas({ cluster }: Pick<ScalerFacts, 'cluster'>): boolean {
  const target = cluster?.target;
  return target !== undefined && !(target instanceof KubernetesError) && target.specReplicas === 0;
}

/** Returns whether the target does not exist, or cannot exist because the cluster does not serve its kind. */
export function isTargetMissing({ cluster }: Pick<ScalerFacts, 'cluster'>): boolean {
  return cluster?.target instanceof KubernetesError && cluster.target.kind === 'not_found';
}

/** Returns why a metric cannot have a value, because its series belong to pods of the target; null: it can. */
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
 * of the last day instead of the current ones. False if there are no series. A series without the label `namespace`
 * counts as one of the namespace of the scaler.
 */
export async function isExposedByOwnPods(
  metric: MetricSpec,
  {
    scaler,
    context,
    isAtZero,
  }: { readonly scaler: Scaler; readonly context: SourceContext; readonly isAtZero: boolean },
): Promise<boolean> {
  const { namespace, spec } = scaler;
  const selectors = vectorSelectors(metricQueryText(metric, scaler, context.source) ?? '');
  if (selectors.length === 0 || selectors.length > MAX_SELECTORS) return false;
  const pods = stringLiteral(podsPattern(spec.scaleTargetRef.kind, spec.scaleTargetRef.name));
  const here = `namespace=~${stringLiteral(`${quoteRegex(namespace)}|`)}`;
  const read = (selector: string): string =>
    isAtZero ? `last_over_time(${selector}[${LOOK_BACK}])` : selector;
  for (const selector of selectors) {
    const own = POD_LABELS.map((label) => read(withMatcher(selector, `${label}=~${pods}, ${here}`))).join(
      ' or ',
    );
    const others = onlyValue(await context.runQuery(`count(${read(selector.text)}) - count(${own})`));
    if (others !== 0) return false;
  }
  return true;
}
