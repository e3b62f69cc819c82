import { isTimeZone } from '../../schedules/local-time.js';
import { type Finding, finding, type IsBroken } from '../problems/finding.js';
import { didYouMean } from '../problems/nearest.js';
import { targetOf, targetTypeOf } from '../resolve/metric-form.js';
import { identityOf } from '../resolve/resolve-metric.js';
import type { Loose, MetricInput, SpecInput } from '../schema/document-schema.js';
import { listSome } from '../../units/format.js';
import { unknownTimeZone } from './schedule-rules.js';

const METRIC = ['spec', 'forecast', 'metric'];
const TIME_ZONE = ['spec', 'forecast', 'timeZone'];

/** Checks that the metric of the forecast exists, and that its values add up to the load of the workload. */
export function checkForecast(
  { forecast, metrics = [] }: Loose<SpecInput>,
  isBroken: IsBroken,
): readonly Finding[] {
  if (forecast === undefined) return [];
  const { metric, timeZone } = forecast;
  const zone = timeZone === undefined || isTimeZone(timeZone) ? [] : [unknownTimeZone(TIME_ZONE, timeZone)];
  if (isBroken(METRIC) || isBroken(['spec', 'metrics'])) return zone;
  const problem = metricProblem(metric, metrics);
  return problem === null ? zone : [...zone, problem];
}

function metricProblem(
  metric: string | undefined,
  written: readonly (Loose<MetricInput> | undefined)[],
): Finding | null {
  const metrics: readonly Loose<MetricInput>[] =
    written.length === 0 ? DEFAULT : written.flatMap((entry) => entry ?? []);
  const names = metrics.map((entry) => identityOf(entry) ?? '');
  if (metric !== undefined && !names.includes(metric)) {
    const message = `spec.forecast.metric must be a metric of the document: ${listSome(names)}${didYouMean(metric, names)}`;
    return finding('unknown-metric', METRIC, message);
  }
  const reasons = metrics.flatMap((entry, index) =>
    metric === undefined || names[index] === metric ? [whyNoTotal(entry)] : [],
  );
  const [first] = reasons;
  if (first === undefined || first === null || reasons.includes(null)) return null;
  const message = `spec.forecast needs a metric whose sum is the load of the workload: ${first}`;
  return finding('contradicting-type', metric === undefined ? ['spec', 'forecast'] : METRIC, message);
}

const DEFAULT: readonly Loose<MetricInput>[] = [{ resource: { name: 'cpu' } }];

/** Returns why the values of a metric do not add up to the load of the workload; null: they do. */
function whyNoTotal(metric: Loose<MetricInput>): string | null {
  const name = identityOf(metric) ?? '';
  const resource = metric.resource?.name ?? metric.containerResource?.name;
  if (resource !== undefined && resource !== 'cpu')
    return `the total ${resource} depends on the number of pods`;
  return targetTypeOf(targetOf(metric)) === 'Value'
    ? `${name} has a target of type Value, which does not depend on the number of pods`
    : null;
}
