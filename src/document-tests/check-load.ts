import { createLoad, type Load } from '../backtest/simulation/load.js';
import { parseMeasure, parseQueue, type QueueSettings } from '../backtest/simulation/settings.js';
import { traceModels } from '../backtest/simulation/trace-models.js';
import { type Finding, finding, formatPath, type Path } from '../scaler/problems/finding.js';
import { didYouMean } from '../scaler/problems/nearest.js';
import { isMemory, type MetricSpec, type Scaler } from '../scaler/spec.js';
import { addSeconds, type Instant, instantFromMs } from '../units/time.js';
import type { MetricInput, TestLoad, TestInput } from './document-test.js';
import { parseSeries, type Series } from './parse-series.js';

export const SCRAPE_INTERVAL_SECONDS = 15;
const RESOURCE_WINDOW_SECONDS = 60;
const MOST_LOAD = 1e15;
const UNLIMITED: QueueSettings = { mostDepth: Infinity, timeoutSeconds: Infinity };

/** Checks the load of a test. `series`: the series for each metric. A metric with a series does not follow the load. */
export function checkLoad(
  input: NonNullable<TestInput['load']>,
  path: Path,
  given: {
    readonly scaler: Scaler;
    readonly start: Instant;
    readonly intervalSeconds: number;
    readonly series: readonly (readonly MetricInput[])[];
  },
): { readonly load: TestLoad | null; readonly findings: readonly Finding[] } {
  const { scaler, start, intervalSeconds, series } = given;
  const { metrics } = scaler.spec;
  const findings: Finding[] = [];
  const add = (field: readonly string[], rule: string): void => {
    const at = [...path, ...field];
    findings.push(finding('wrong-value', at, `${formatPath(at)} ${rule}`));
  };
  const values = readValues(String(input.values));
  if (typeof values === 'string') add(['values'], values);
  const settings = input.queue === undefined ? null : parseQueue(input.queue);
  if (typeof settings === 'string') add(['queue'], settings);
  const measures = new Map(Object.entries(input.metrics ?? {}));
  for (const [name, expression] of measures) {
    const rule = whyNoMeasure(name, expression, metrics);
    if (rule !== null) add(['metrics', name], rule);
  }
  if (typeof values === 'string' || typeof settings === 'string' || findings.length > 0)
    return { load: null, findings };
  const load = loadOf(values, start, intervalSeconds);
  const followers = metrics.filter(
    (metric, index) => (series[index] ?? []).length === 0 && !isMemory(metric),
  );
  if (followers.length === 0) return { load: { models: metrics.map(() => null), queue: null }, findings };
  const built = traceModels({ ...scaler, spec: { ...scaler.spec, metrics: followers } }, load, {
    capacity: input.capacity,
    usageAtCapacityPercent: 100,
    resourceWindowSeconds: RESOURCE_WINDOW_SECONDS,
    scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
    measures,
  });
  if ('error' in built) {
    add([], `cannot be simulated: ${built.error}`);
    return { load: null, findings };
  }
  const models = metrics.map((metric) => built.models[followers.indexOf(metric)] ?? null);
  const isQueued = settings !== null || measures.size > 0;
  const queue = isQueued ? { ...(settings ?? UNLIMITED), load, capacity: input.capacity } : null;
  return { load: { models, queue }, findings };
}

function readValues(text: string): Series | string {
  const parsed = parseSeries(text);
  if ('error' in parsed) return parsed.error;
  for (let index = 0; index < parsed.values.length; index += 1) {
    const value = parsed.values.at(index) ?? 0;
    if (value < 0 || value > MOST_LOAD) return `has ${value}, must be from 0 to ${MOST_LOAD}`;
  }
  return parsed.values;
}

/** Returns the load of a series. After the last value of the series, the load is unknown. */
function loadOf(values: Series, start: Instant, intervalSeconds: number): Load {
  const times = Float64Array.from(
    { length: values.length + 1 },
    (_, index) => start + index * intervalSeconds * 1000,
  );
  const column = Float64Array.from(times, (_, index) => values.at(index) ?? NaN);
  const end = addSeconds(instantFromMs(times.at(-1) ?? start), intervalSeconds);
  return createLoad(times, column, end);
}

function whyNoMeasure(name: string, expression: string, metrics: readonly MetricSpec[]): string | null {
  const measured = metrics.filter(({ type }) => type === 'Pods' || type === 'Object' || type === 'External');
  const known = measured.map(({ identity }) => identity);
  if (!known.includes(name)) return `is not a metric of the document with a query${didYouMean(name, known)}`;
  const measure = parseMeasure(expression);
  return typeof measure === 'string' ? measure : null;
}
