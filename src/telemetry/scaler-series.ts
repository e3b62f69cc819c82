import { whyNoCeiling } from '../decision/limits/ceiling.js';
import { sumOfParts } from '../decision/forecast/budget.js';
import type { Condition } from '../decision/result/condition.js';
import type { CurrentValue, Decision, MetricResult } from '../decision/result/decision.js';
import { countReady } from '../decision/snapshot/snapshot.js';
import type { ScalerState } from '../decision/state.js';
import type { MetricSpec, ScalerName } from '../scaler/spec.js';
import { milliToNumber } from '../units/quantity.js';
import { boundsOf, desiredReplicasOf } from './cycle-record.js';
import type { LedgerEntry, Ledger } from './ledger.js';
import { SCALER_METRICS, type MetricRow, type MetricsDetail, isInSummary } from './metric-table.js';

/**
 * Writes a series of a scaler. `labels` are in the text format, each after a comma, without `namespace` and `scaler`.
 */
type WriteSeries = (labels: string, value: number) => void;

export type ScalerMetricKey = keyof typeof SCALER_METRICS;

/**
 * Functions that write the series of a scaler for each metric. If a value is missing, there is no series, never a 0.
 */
export const SCALER_SERIES: Readonly<
  Record<ScalerMetricKey, (status: LedgerEntry, write: WriteSeries) => void>
> = {
  state: ({ shownState }, write) => write(labelsOfState(shownState), 1),
  currentReplicas: ({ record }, write) => writeKnown(record.decision?.currentReplicas, write),
  desiredReplicas: ({ record }, write) => writeKnown(desiredReplicasOf(record), write),
  recommendedReplicas: ({ record }, write) => writeKnown(record.decision?.recommendedReplicas, write),
  minReplicas: ({ record }, write) => write('', boundsOf(record).minReplicas),
  maxReplicas: ({ record }, write) => write('', boundsOf(record).maxReplicas),
  readyPods: ({ record: { snapshot } }, write) =>
    writeKnown(snapshot === null ? null : countReady(snapshot.pods), write),
  metricValue: (status, write) => writeMetrics(status, write, currentValue),
  metricTarget: (status, write) => writeMetrics(status, write, targetValue),
  metricCapacity: (status, write) =>
    writeMetrics(status, write, (_, result) => result?.measuredCapacity?.value ?? null),
  metricCapacityDrift: (status, write) => writeMetrics(status, write, (_, result) => driftOf(result)),
  saturationStep: ({ record }, write) =>
    writeKnown(
      record.decision?.metrics.find(({ saturation }) => saturation !== undefined)?.saturation?.replicas,
      write,
    ),
  ceiling: ({ record }, write) => writeKnown(record.decision?.state.maxReplicasFrom, write),
  ceilingFailing: ({ scaler, record: { snapshot } }, write) => {
    if (scaler.spec.maxReplicasFrom === null || snapshot === null) return;
    write('', Number(whyNoCeiling(snapshot.maxReplicasFrom) !== null));
  },
  metricProposal: (status, write) => writeMetrics(status, write, (_, result) => result?.proposal ?? null),
  pods: ({ record }, write) => writePods(record.decision, write),
  limited: ({ record }, write) => {
    for (const limit of new Set(record.decision?.limits.map((step) => step.limit)))
      write(`,limit="${limit}"`, 1);
  },
  limitEnd: writeLimitEnds,
  condition: ({ conditions }, write) => {
    for (const condition of conditions) write(labelsOfCondition(condition), 1);
  },
  rescales: ({ rescales }, write) => {
    write(UP, rescales.up);
    write(DOWN, rescales.down);
  },
  lastRescale: writeLastRescale,
  paused: ({ record }, write) => write('', Number(record.pause !== null)),
  dryRun: ({ record }, write) => write('', Number(record.dryRun)),
  forecastReplicas: ({ record }, write) => writeKnown(record.decision?.forecast?.replicas, write),
  reactiveReplicas: ({ record }, write) => writeKnown(record.decision?.forecast?.reactive, write),
  forecastSpent: ({ record }, write) => writeKnown(record.decision?.forecast?.spentPercent, write),
  forecastShort: (status, write) => writePodSeconds(status, write, 'short'),
  forecastPrevented: (status, write) => writePodSeconds(status, write, 'prevented'),
  recommendationSaving: ({ recommendation }, write) => {
    if (recommendation !== null && recommendation.saving !== null)
      write('', recommendation.saving.percent / 100);
  },
  shadowDifference: ({ record }, write) => writeKnown(record.shadow?.difference, write),
};

function labelsOfState({ name, severity }: ScalerState): string {
  return `,state="${name}",severity="${severity}"`;
}

const UP = ',direction="up"';
const DOWN = ',direction="down"';

function writeKnown(value: number | null | undefined, write: WriteSeries): void {
  if (value !== null && value !== undefined) write('', value);
}

function writePodSeconds(
  { record: { decision } }: LedgerEntry,
  write: WriteSeries,
  part: 'short' | 'prevented',
): void {
  const state = decision?.forecast === undefined ? undefined : decision.state.forecast;
  if (state !== undefined) write('', Math.round(sumOfParts(state.spent)[part]));
}

function writeLimitEnds({ record }: LedgerEntry, write: WriteSeries): void {
  const until = new Map<string, number>();
  for (const step of record.decision?.limits ?? [])
    if (step.until !== null) until.set(step.limit, step.until / 1000);
  for (const [limit, seconds] of until) write(`,limit="${limit}"`, seconds);
}

function writeLastRescale({ lastRescale: { up, down } }: LedgerEntry, write: WriteSeries): void {
  if (up !== null) write(UP, up / 1000);
  if (down !== null) write(DOWN, down / 1000);
}

/**
 * Writes a series for each metric. Results are in the order of the document. If there are no results, only targets are
 * written.
 */
function writeMetrics(
  { scaler, record }: LedgerEntry,
  write: WriteSeries,
  valueOf: (spec: MetricSpec, result: MetricResult | undefined) => number | null,
): void {
  let index = 0;
  for (const spec of scaler.spec.metrics) {
    const value = valueOf(spec, record.decision?.metrics[index++]);
    if (value !== null) write(labelsOfMetric(spec), value);
  }
}

function labelsOfMetric({ type, identity }: MetricSpec): string {
  return `,metric="${escapeValue(identity)}",type="${type}"`;
}

function labelsOfCondition({ type, status, reason }: Condition): string {
  return `,type="${type}",status="${status}",reason="${escapeValue(reason)}"`;
}

function escapeValue(text: string): string {
  return /[\\"\n]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : text;
}

const FIELDS = { Utilization: 'averageUtilization', AverageValue: 'averageValue', Value: 'value' } as const;

/** Returns the current value in the unit of the target; null: there is no value, or it was not queried. */
export function currentValue({ target }: MetricSpec, result: MetricResult | undefined): number | null {
  return currentValues(result)[FIELDS[target.type]] ?? null;
}

/** Returns the current values of a metric; empty: there are none, or they were not queried. */
export function currentValues(result: MetricResult | undefined): CurrentValue {
  if (result === undefined || result.error !== null || result.readAsZero !== undefined) return {};
  const { averageValue, ...others } = result.current;
  // At 0 replicas, there is no average.
  return averageValue === undefined || result.ratio === null ? others : result.current;
}

/**
 * Returns the target in percent of the requests or in base units. A measured capacity replaces the target of the
 * document.
 */
export function targetValue(spec: MetricSpec, result?: MetricResult): number {
  if (result?.capacity !== undefined) return result.capacity;
  return spec.target.type === 'Utilization' ? spec.target.percent : milliToNumber(spec.target.milli);
}

function driftOf(result: MetricResult | undefined): number | null {
  const { value, drift } = result?.measuredCapacity ?? {};
  return value === undefined || drift === undefined ? null : value / drift.before;
}

function writePods(decision: Decision | null, write: WriteSeries): void {
  for (const { pods } of decision?.metrics ?? []) {
    const { ready, unready, missing, ignored } = pods;
    if (ready.length + unready.length + missing.length + ignored.length === 0) continue;
    write(',group="ready"', ready.length);
    write(',group="unready"', unready.length);
    write(',group="missing"', missing.length);
    write(',group="ignored"', ignored.length);
    return;
  }
}

/** A scaler that has no entry in the ledger, because no version of its document is valid. */
export interface InvalidScaler extends ScalerName {
  readonly state: ScalerState;
}

/** Number of scalers in a part of the page. Writing a part takes about 1 ms. */
const SCALERS_AT_ONCE = 250;

/**
 * Yields the series of all scalers in the Prometheus text format, in parts. The ledger is read at each scrape.
 * Therefore recording a cycle costs nothing, and a removed scaler or an ended limit has no series. prom-client is not
 * used: its set() and remove() would hash each label set, and its registry writes a metric without yielding.
 */
export function* writeScalerMetrics(
  ledger: Pick<Ledger, 'list'>,
  detail: MetricsDetail,
  invalid: Iterable<InvalidScaler> = [],
): Generator<string, void> {
  const labels = new PageLabels();
  for (const key of Object.keys(SCALER_METRICS)) {
    if (!isScalerMetric(key)) continue;
    const row: MetricRow = SCALER_METRICS[key];
    if (detail === 'summary' && !isInSummary(row)) continue;
    yield `# HELP ${row.name} ${row.help}\n# TYPE ${row.name} ${row.type}\n`;
    const page = createPiece(row.name, labels);
    const write = SCALER_SERIES[key];
    let scalers = 0;
    for (const status of ledger.list()) {
      page.begin(status.scaler);
      write(status, page.write);
      scalers += 1;
      if (scalers % SCALERS_AT_ONCE === 0) yield page.take();
    }
    for (const scaler of key === 'state' ? invalid : []) {
      page.begin(scaler);
      page.write(labelsOfState(scaler.state), 1);
    }
    yield `${page.take()}\n`;
  }
}

function isScalerMetric(key: string): key is ScalerMetricKey {
  return Object.hasOwn(SCALER_SERIES, key);
}

/** The labels of scalers. They are built once per page, because a page has 19 lines per scaler. */
class PageLabels {
  readonly #known = new Map<ScalerName, string>();

  of(scaler: ScalerName): string {
    const known = this.#known.get(scaler);
    if (known !== undefined) return known;
    const { namespace, name } = scaler;
    const labels = `namespace="${escapeValue(namespace)}",scaler="${escapeValue(name)}"`;
    this.#known.set(scaler, labels);
    return labels;
  }
}

function createPiece(
  name: string,
  labels: PageLabels,
): {
  readonly begin: (scaler: ScalerName) => void;
  readonly write: WriteSeries;
  readonly take: () => string;
} {
  let lines = '';
  let start = '';
  return {
    begin: (scaler) => {
      start = `${name}{${labels.of(scaler)}`;
    },
    write: (labels, value) => {
      lines += `${start}${labels}} ${writeValue(value)}\n`;
    },
    take: () => {
      const taken = lines;
      lines = '';
      return taken;
    },
  };
}

function writeValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
