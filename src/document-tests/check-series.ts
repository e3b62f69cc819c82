import { type Finding, type Path, finding, formatPath } from '../scaler/problems/finding.js';
import { didYouMean } from '../scaler/problems/nearest.js';
import type { MetricSpec, ScalerSpec } from '../scaler/spec.js';
import type { MetricInput } from './document-test.js';
import { parseSeries, type Series } from './parse-series.js';
import type { TestInput } from './test-schema.js';

type SeriesInput = NonNullable<TestInput['series']>[number];

/** Assigns each series to its metric. `inputs` has one list for each metric. */
export function checkSeries(
  series: readonly SeriesInput[],
  path: Path,
  metrics: readonly MetricSpec[],
): { readonly inputs: readonly (readonly MetricInput[])[]; readonly findings: readonly Finding[] } {
  const inputs: MetricInput[][] = metrics.map(() => []);
  const findings: Finding[] = [];
  series.forEach((one, index) => {
    const seriesPath = [...path, index];
    const found = findMetric(one.metric, [...seriesPath, 'metric'], metrics);
    if (typeof found !== 'number') {
      findings.push(found);
      return;
    }
    const parsed = readValues(one.values, [...seriesPath, 'values']);
    const metric = metrics[found];
    const own = inputs[found];
    if (metric === undefined || own === undefined) return;
    if ('code' in parsed) {
      findings.push(parsed);
      return;
    }
    const { pod = null, shared: isShared = false, part = null } = one;
    const input = { pod, isShared, part, values: parsed };
    const problem = whyNot(metric, input, own);
    if (problem === null) own.push(input);
    else findings.push(finding('wrong-settings', seriesPath, `${formatPath(seriesPath)} ${problem}`));
  });
  return { inputs, findings };
}

/** Checks what the query of `maxReplicasFrom` returns. */
export function checkCeiling(
  text: TestInput['maxReplicasFrom'],
  path: Path,
  { maxReplicasFrom }: ScalerSpec,
): { readonly values: Series | null; readonly findings: readonly Finding[] } {
  if (text === undefined) return { values: null, findings: [] };
  const parsed =
    maxReplicasFrom === null
      ? finding('wrong-settings', path, `${formatPath(path)} is set, but the document has no maxReplicasFrom`)
      : readValues(text, path);
  return 'code' in parsed ? { values: null, findings: [parsed] } : { values: parsed, findings: [] };
}

function readValues(text: string | number, path: Path): Series | Finding {
  const parsed = parseSeries(String(text));
  if ('values' in parsed) return parsed.values;
  const message = `${formatPath(path)} ${parsed.error}`;
  return { ...finding('wrong-format', path, message), offset: parsed.offset };
}

/** A metric is identified by its identity, or by `TYPE/IDENTITY` if two types have the same identity. */
function findMetric(name: string, path: Path, metrics: readonly MetricSpec[]): number | Finding {
  const longName = ({ type, identity }: MetricSpec): string => `${type}/${identity}`;
  const found = metrics.flatMap((metric, index) =>
    metric.identity === name || longName(metric) === name ? [index] : [],
  );
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const shown = `${formatPath(path)} is ${JSON.stringify(name)}`;
  if (only !== undefined) {
    const names = metrics.filter((_, index) => found.includes(index)).map(longName);
    return finding('wrong-value', path, `${shown}, must be one of ${names.join(', ')}`);
  }
  const known = metrics.map(({ identity }) => identity);
  const list = known.length === 0 ? 'has no metric' : `has ${known.slice(0, 10).join(', ')}`;
  return finding('wrong-value', path, `${shown}, but the document ${list}${didYouMean(name, known)}`);
}

function whyNot(metric: MetricSpec, input: MetricInput, others: readonly MetricInput[]): string | null {
  const { type, identity } = metric;
  const isPerPod = type !== 'Object' && type !== 'External';
  if (input.part !== null && !hasPart(metric, input.part))
    return `is the ${input.part} of ${identity}, which has no ${input.part} in the document`;
  if (!isPerPod && input.pod !== null) return `has a pod, but ${identity} is not measured per pod`;
  if (!isPerPod && input.isShared) return `is shared, but ${identity} is not measured per pod`;
  if (input.pod !== null && input.isShared) return 'has both pod and shared';
  const isOnlyOne = type !== 'External' || input.part === 'capacity';
  if (isOnlyOne && others.some(({ pod, part }) => pod === input.pod && part === input.part))
    return `repeats a series of ${identity}`;
  return null;
}

function hasPart(metric: MetricSpec, part: 'backlog' | 'capacity'): boolean {
  if (metric.type !== 'Object' && metric.type !== 'External') return false;
  const { backlog, capacityQuery, autoCapacity } = metric;
  return (part === 'backlog' ? backlog : (capacityQuery ?? autoCapacity)) !== undefined;
}
