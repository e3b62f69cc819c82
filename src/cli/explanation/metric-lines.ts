import { explainMetric } from '../../decision/explain-metric.js';
import { describeValue } from '../../decision/explain-proposal.js';
import type { JudgedMetric } from '../../decision/proposals/propose.js';
import type { MetricResult } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import { type AutoCapacity, isOfResource, type LabelSelector, type MetricSpec } from '../../scaler/spec.js';
import { listSome } from '../../units/format.js';
import { groupBy } from '../../units/maps.js';

export function metricLines(metric: JudgedMetric, snapshot: Snapshot): readonly string[] {
  const { spec, result } = metric;
  const proposal = result.proposal === null ? 'no proposal' : `proposes ${result.proposal}`;
  const { answer, arithmetic } = explainMetric(metric, snapshot);
  return [
    `  ${spec.identity} (${spec.type}): ${describeValue(metric, snapshot)} - ${proposal}`,
    labeled('query', queryText(spec)),
    ...checkTexts(spec).map((text) => labeled('check', text)),
    ...partLines(spec),
    labeled('answer', answer),
    ...podLines(result),
    ...(result.saturation === undefined ? [] : [labeled('step', result.saturation.why)]),
    ...(arithmetic === null ? [] : [labeled('count', arithmetic)]),
  ];
}

function labeled(label: string, text: string): string {
  return `    ${label.padEnd(7)} ${text}`;
}

function queryText(spec: MetricSpec): string {
  const source = spec.source === 'default' ? '' : ` (source ${spec.source})`;
  if (isOfResource(spec)) {
    const what = spec.type === 'Resource' ? spec.name : `${spec.name} of container ${spec.container}`;
    return `the resource query of source ${spec.source} for ${what}`;
  }
  const selector = spec.selector.length === 0 ? '' : `, series with ${selectorText(spec.selector)}`;
  return `${oneLine(spec.query)}${selector}${source}`;
}

function checkTexts(spec: MetricSpec): readonly string[] {
  if (spec.type !== 'Object' && spec.type !== 'External') return [];
  const { guard, freshness } = spec;
  return [
    ...(guard === null ? [] : [`${oneLine(guard)} must be true`]),
    ...(freshness === null
      ? []
      : [`${oneLine(freshness.query)} must be at most ${freshness.maxAgeSeconds} s in the past`]),
  ];
}

/**
 * Returns a line for each additional query that the decision uses besides the query of the metric, such as `backlog`.
 */
function partLines(spec: MetricSpec): readonly string[] {
  if (spec.type === 'Resource' && spec.saturation !== undefined)
    return [labeled('served', oneLine(spec.saturation.servedQuery))];
  if (spec.type !== 'Object' && spec.type !== 'External') return [];
  const { backlog, capacityQuery, autoCapacity } = spec;
  return [
    ...(backlog === undefined
      ? []
      : [labeled('backlog', `${oneLine(backlog.query)}, to process in ${backlog.drainSeconds} s`)]),
    ...(capacityQuery === undefined ? [] : [labeled('per pod', oneLine(capacityQuery))]),
    ...(autoCapacity === undefined ? [] : [labeled('per pod', autoText(autoCapacity))]),
  ];
}

function autoText({ mode, servedQuery, errorsQuery }: AutoCapacity): string {
  const errors = errorsQuery === undefined ? '' : `, except while there are errors: ${oneLine(errorsQuery)}`;
  return `auto, mode ${mode}: the highest value of ${oneLine(servedQuery)} per ready pod in 3 days${errors}`;
}

export function oneLine(query: string): string {
  return query.replace(/\s+/g, ' ').trim();
}

function selectorText(selector: LabelSelector): string {
  return selector
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return key;
      if (operator === 'DoesNotExist') return `no ${key}`;
      const [only] = values;
      if (operator === 'In' && values.length === 1 && only !== undefined) return `${key}=${only}`;
      return `${key} ${operator === 'In' ? 'in' : 'not in'} (${values.join(', ')})`;
    })
    .join(', ');
}

function podLines({ pods, podReasons }: MetricResult): readonly string[] {
  const groups = ['ready', 'unready', 'missing', 'ignored'] as const;
  if (groups.every((group) => pods[group].length === 0)) return [];
  const counts = groups.flatMap((group) =>
    group === 'ready' || pods[group].length > 0 ? [`${pods[group].length} ${group}`] : [],
  );
  const aside = groups.flatMap((group) =>
    group === 'ready'
      ? []
      : [...byReason(pods[group], podReasons)].map(([why, names]) => `${group}, ${why}: ${listSome(names)}`),
  );
  return [labeled('pods', counts.join(', ')), ...aside.map((line) => labeled('', line))];
}

function byReason(
  names: readonly string[],
  reasons: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  return groupBy(names, (name) => reasons[name] ?? 'reason not known');
}
