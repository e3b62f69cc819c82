import type { Scaler } from '../scaler/spec.js';
import type { Ledger, ScalerStatus } from './ledger.js';
import { SCALER_METRICS } from './metric-table.js';
import { SCALER_SERIES } from './scaler-series.js';
import type { ScalerMetricKey } from './scaler-series.js';

/** Scalers per piece, which takes about 1 ms. */
const SCALERS_AT_ONCE = 250;

/**
 * Yields the series of all scalers in the Prometheus text format, in pieces. Reads the ledger at each scrape, so that
 * recording a cycle costs nothing, and no series remains of a removed scaler or an ended limit. (set() and remove() of
 * prom-client would hash each label set, and its registry writes a metric without yielding.)
 */
export function* writeScalerMetrics(ledger: Pick<Ledger, 'list'>): Generator<string, void> {
  for (const key of Object.keys(SCALER_METRICS)) {
    if (!isScalerMetric(key)) continue;
    const { name, help, type } = SCALER_METRICS[key];
    yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    let lines = '';
    let scalers = 0;
    for (const status of ledger.list()) {
      lines += writeSeries(key, status);
      scalers += 1;
      if (scalers % SCALERS_AT_ONCE !== 0) continue;
      yield lines;
      lines = '';
    }
    yield `${lines}\n`;
  }
}

function isScalerMetric(key: string): key is ScalerMetricKey {
  return Object.hasOwn(SCALER_SERIES, key);
}

function writeSeries(key: ScalerMetricKey, status: ScalerStatus): string {
  const { name } = SCALER_METRICS[key];
  let lines = '';
  for (const { labels, value } of SCALER_SERIES[key](status)) {
    lines += `${name}{${ownLabels(status.scaler)}`;
    for (const label in labels) lines += `,${label}="${escapeValue(labels[label] ?? '')}"`;
    lines += `} ${writeValue(value)}\n`;
  }
  return lines;
}

const labelsOfScalers = new WeakMap<Scaler, string>();

/** Built once per document, because a page has 18 lines per scaler. */
function ownLabels(scaler: Scaler): string {
  const known = labelsOfScalers.get(scaler);
  if (known !== undefined) return known;
  const written = `namespace="${escapeValue(scaler.namespace)}",scaler="${escapeValue(scaler.name)}"`;
  labelsOfScalers.set(scaler, written);
  return written;
}

function escapeValue(text: string): string {
  return /[\\"\n]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : text;
}

function writeValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
