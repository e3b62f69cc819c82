import { learnPodStarts, POD_START_OF, podStartOf } from '../../control/memory/pod-starts.js';
import { metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { vectorSelectors } from '../../promql/vector-selectors.js';
import { LONGEST_SCALE_UP_SECONDS } from '../../scaler/rules/metric-type-rules.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { SCRAPES_IN_WINDOW } from '../../units/bounds.js';
import { countOf, inSeconds } from '../../units/format.js';
import type { CheckResult, ResultBuilder, CheckResults, Checked } from './check-result.js';
import type { SourceContext } from './context.js';
import { type ScalerFacts, readPods } from './scaler-facts.js';
import { measureScrapes } from './scrape-interval.js';

/** A smaller delay is not reported: it is below the default sync period, so it has no visible effect. */
const LEAST_DELAY_SECONDS = 15;
/** A range is reported if it exceeds both the start time of pods and the necessary range by this factor. */
const MUCH_LONGER = 2;

/**
 * Warns about query ranges that are much longer than the learned start time of pods, and about a limit of one pod per
 * period that is shorter than this time. Skips documents with `podStart.seconds`: the rules `range-above-pod-start` and
 * `slow-scale-up` check them.
 */
export async function checkPodStart({
  scaler,
  cluster,
  sources,
  make,
}: Checked<ScalerFacts>): Promise<CheckResults> {
  if ((scaler.spec.podStart?.seconds ?? null) !== null) return make.ok('');
  const pods = (readPods(cluster) ?? []).map(({ pod }) => pod);
  const startSeconds = podStartOf(learnPodStarts(new Map(), pods));
  if (startSeconds === null) return make.ok('');
  const results: CheckResult[] = [];
  for (const metric of scaler.spec.metrics) {
    const context = sources.get(metric.source);
    if (context === undefined || !('query' in metric)) continue;
    const query = metricQueryText(metric, scaler, context.source) ?? '';
    results.push(...(await checkRange(metric, query, { ...context, startSeconds, make })));
  }
  results.push(...checkPolicy(scaler, startSeconds, make));
  return results.length === 0 ? make.ok('') : results;
}

async function checkRange(
  { type, identity }: MetricSpec,
  query: string,
  { startSeconds, make, ...context }: Checked<SourceContext> & { readonly startSeconds: number },
): Promise<readonly CheckResult[]> {
  const range = largestWrittenRangeSeconds(query);
  const isLonger = (needed: number): boolean =>
    range >= MUCH_LONGER * needed && range - needed >= LEAST_DELAY_SECONDS;
  if (!isLonger(startSeconds)) return [];
  const selector = vectorSelectors(query).find((one) => one.range !== null);
  const scrapes = selector === undefined ? null : await measureScrapes(context, selector, 2 * range);
  const measured = scrapes?.intervalSeconds ?? null;
  const interval = measured ?? context.source.scrapeIntervalSeconds;
  const enough = SCRAPES_IN_WINDOW * interval;
  if (!isLonger(Math.max(startSeconds, enough))) return [];
  const assumed =
    measured === null ? ` of ${interval} s (scrapeIntervalSeconds, because none was measured)` : '';
  return [
    make.warning(
      `${type} metric ${identity}: the range of ${range} s is longer than the ${inSeconds(startSeconds)} ${POD_START_OF}: the metric shows a rise of the load in full only after ${range} s, although new pods could serve the load earlier`,
      `shorten the range to four scrape intervals${assumed}: [${enough}s], unless samples arrive late, for which a short range leaves less time (check sample-age)`,
    ),
  ];
}

/**
 * Warns about a limit of one pod per period that is shorter than the start of a pod. Such a limit does not wait for the
 * pod to become ready, but still delays further pods.
 */
function checkPolicy(
  { spec: { behavior, minReplicas, maxReplicas } }: Scaler,
  startSeconds: number,
  make: ResultBuilder,
): readonly CheckResult[] {
  const { policies = [], selectPolicy } = behavior?.scaleUp ?? {};
  if (selectPolicy === 'Disabled') return [];
  const [policy, second] = policies;
  if (policy?.type !== 'Pods' || policy.value !== 1 || second !== undefined) return [];
  const { periodSeconds } = policy;
  const more = maxReplicas - minReplicas;
  const isReported = more * periodSeconds > LONGEST_SCALE_UP_SECONDS;
  if (startSeconds <= periodSeconds || more <= 1 || isReported) return [];
  return [
    make.warning(
      `95 % of the pods became ready within ${inSeconds(startSeconds)} of their start on a node, but scale-up adds only one pod per ${periodSeconds} s. Scaling from ${minReplicas} to ${countOf(maxReplicas, 'pod')} takes ${inSeconds((more - 1) * periodSeconds + startSeconds)} instead of ${inSeconds(startSeconds)}, and the backlog grows in that time`,
      `${selectPolicy === 'Min' ? 'set selectPolicy: Max and ' : ''}add a policy (the larger change applies): { type: Percent, value: 100, periodSeconds: ${periodSeconds} }`,
    ),
  ];
}
