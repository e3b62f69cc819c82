import type { Answer } from '../../prometheus/answers/answer.js';
import { labelOf, type Series } from '../../prometheus/answers/columns.js';

/**
 * The checks in the order of the report. docs/guides/troubleshooting.md describes each, `checks/NAME.ts` implements it.
 */
export const CHECK_NAMES = [
  'config',
  'prometheus',
  'prometheus-clock',
  'resource-series',
  'scrape-interval',
  'sample-age',
  'notifications',
  'cluster',
  'cluster-clock',
  'permissions',
  'lease',
  'state',
  'custom-resources',
  'target',
  'pods',
  'requests',
  'other-scaler',
  'replicas-writer',
  'query',
  'query-window',
  'pod-start',
  'wake-up',
  'forecast',
  'spikes',
  'decision',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

/** `skipped`: the check could not run. The result of another check says why. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface CheckResult {
  readonly check: CheckName;
  readonly status: CheckStatus;
  /** `config`, `data source NAME`, `cluster`, or `NAMESPACE/NAME` of a scaler. */
  readonly subject: string;
  /** One sentence without a full stop, and without secrets. */
  readonly message: string;
  /** The configuration or command that fixes the problem; null for `ok` and `skipped`. */
  readonly fix: string | null;
}

/** What a check returns: one result or several; an empty list if there is nothing to check. */
export type CheckResults = CheckResult | readonly CheckResult[];

/** What a check reads, and the builder of its results. */
export type Checked<Facts> = Facts & { readonly make: ResultBuilder };

export interface ResultBuilder {
  readonly ok: (message: string) => CheckResult;
  readonly warning: (message: string, fix: string) => CheckResult;
  readonly failed: (message: string, fix: string) => CheckResult;
  readonly skipped: (why: string) => CheckResult;
}

export function resultsOf(check: CheckName, subject: string): ResultBuilder {
  const make =
    (status: CheckStatus) =>
    (message: string, fix: string | null = null): CheckResult => ({ check, status, subject, message, fix });
  return { ok: make('ok'), warning: make('warning'), failed: make('failed'), skipped: make('skipped') };
}

function seriesOf(answer: Answer): readonly Series[] {
  return 'series' in answer ? answer.series : [];
}

/** Returns the value of the only series; null: there is no series, or more than one. */
export function onlyValue(answer: Answer): number | null {
  const [first, second] = seriesOf(answer);
  return first === undefined || second !== undefined ? null : first.value;
}

export function labelValues(answer: Answer, label: string): readonly string[] {
  const values = seriesOf(answer).flatMap((one) => labelOf(one, label) ?? []);
  return [...new Set(values)].sort();
}

/** Returns the sorted names of the labels of an answer, without `__name__`. */
export function answeredLabels(answer: Answer): readonly string[] {
  return labelNames(seriesOf(answer)).filter((name) => name !== '__name__');
}

/** Returns the sorted names of all labels of the series. */
export function labelNames(series: readonly Series[]): readonly string[] {
  return [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].sort();
}
