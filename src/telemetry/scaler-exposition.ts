import type { Scaler } from '../scaler/spec.js';
import type { Ledger } from './ledger.js';
import type { MetricRow, MetricsDetail } from './metric-table.js';
import { SCALER_METRICS, isInSummary } from './metric-table.js';
import { SCALER_SERIES, escapeValue } from './scaler-series.js';
import type { ScalerMetricKey, WriteSeries } from './scaler-series.js';

/** Number of scalers per piece, which takes about 1 ms. */
const SCALERS_AT_ONCE = 250;

/**
 * Yields the series of all scalers in the Prometheus text format, in pieces. Reads the ledger at each scrape, so
 * recording a cycle costs nothing, and a removed scaler or an ended limit has no series. (set() and remove() of
 * prom-client would hash each label set, and its registry writes a metric without yielding.)
 */
export function* writeScalerMetrics(
  ledger: Pick<Ledger, 'list'>,
  detail: MetricsDetail,
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
    yield `${page.take()}\n`;
  }
}

function isScalerMetric(key: string): key is ScalerMetricKey {
  return Object.hasOwn(SCALER_SERIES, key);
}

/** The labels of scalers, built once per page, because it has 18 lines per scaler. */
class PageLabels {
  readonly #known = new Map<Scaler, string>();

  of(scaler: Scaler): string {
    const known = this.#known.get(scaler);
    if (known !== undefined) return known;
    const { namespace, name } = scaler;
    const labels = `namespace="${escapeValue(namespace)}",scaler="${escapeValue(name)}"`;
    this.#known.set(scaler, labels);
    return labels;
  }
}

/** Returns the lines of one metric. */
function createPiece(
  name: string,
  labels: PageLabels,
): {
  readonly begin: (scaler: Scaler) => void;
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
