import { quoteRegex, stringLiteral } from '../../promql/quoting.js';
import { COUNT_COLUMNS } from '../../telemetry/chart-points.js';
import { SCALER_METRICS } from '../../telemetry/metric-table.js';

/** PromQL for the columns of a scaler. All results have the label `cluster` of their series, if these have one. */
export interface HistoryQueries {
  /** One series for each column, named by the label `column`. */
  readonly counts: string;
  /** One series for each metric, with its labels `metric` and `type`. */
  readonly values: string;
  readonly targets: string;
}

/** Several samples at a scrape interval of up to a minute. */
const LEAST_WINDOW_SECONDS = 120;

/**
 * Counts are those at the end of each step: the largest one, if several replicas or jobs expose a scaler at the same
 * time. Values are the mean of all samples within a step, whichever replica exposed them; `metrics` are the identities
 * of those that are wanted (null: all).
 */
export function historyQueries(
  scaler: { readonly namespace: string; readonly name: string },
  stepSeconds: number,
  metrics: readonly string[] | null = null,
): HistoryQueries {
  const matchers = `namespace=${stringLiteral(scaler.namespace)},scaler=${stringLiteral(scaler.name)}`;
  const ofMetrics = metrics === null ? '' : `,metric=~${stringLiteral(metrics.map(quoteRegex).join('|'))}`;
  const window = `[${Math.max(stepSeconds, LEAST_WINDOW_SECONDS)}s]`;
  const mean = (metric: string): string => {
    const over = `${metric}{${matchers}${ofMetrics}}${window}`;
    const by = 'sum by (cluster, metric, type)';
    return `${by} (sum_over_time(${over})) / ${by} (count_over_time(${over}))`;
  };
  const count = (column: (typeof COUNT_COLUMNS)[number]): string =>
    `label_replace(max by (cluster) (${SCALER_METRICS[column].name}{${matchers}}), "column", "${column}", "", "")`;
  return {
    counts: COUNT_COLUMNS.map(count).join(' or '),
    values: mean(SCALER_METRICS.metricValue.name),
    targets: mean(SCALER_METRICS.metricTarget.name),
  };
}
