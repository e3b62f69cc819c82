import type { LabelPlaces } from './label-places.js';

/** A rule of prometheus-adapter, which maps series in Prometheus to metrics of an API. */
export interface AdapterRule {
  /** Position of the rule, for example `rules[2]`. */
  readonly location: string;
  readonly api: 'custom' | 'external';
  readonly series: SeriesSelector;
  /** `seriesFilters`: `is` and `isNot`. */
  readonly filters: readonly SeriesFilter[];
  readonly name: NameRule;
  readonly metricsQuery: string;
  readonly labels: LabelPlaces;
  /** Whether a query selects the namespace. Only rules of external metrics may set this to false. */
  readonly isNamespaced: boolean;
}

/** The name of the series, either exact or as patterns. */
export interface SeriesSelector {
  /** Null: not an exact name. */
  readonly name: string | null;
  readonly patterns: readonly SeriesFilter[];
}

export interface SeriesFilter {
  readonly pattern: RegExp;
  readonly isWanted: boolean;
}

/** Derives the name of a metric from the name of its series. */
export interface NameRule {
  readonly matches: RegExp;
  /** The text of the regular expression `matches`. */
  readonly source: string;
  /** May contain groups such as `${1}`. */
  readonly as: string;
}

const GROUP = /\$(?:(\w+)|\{(\w+)\})/g;

/**
 * Returns the name of the metric for a series; null: the rule does not apply to it. Source: pkg/naming/metric_namer.go
 */
export function metricNameOf(series: string, { matches, as }: NameRule): string | null {
  const match = matches.exec(series);
  if (match === null) return null;
  // As in Go, `$1_total` is the group `1_total`, which does not exist. `${1}_total` is the first group.
  return as.replace(GROUP, (_, plain?: string, braced?: string) => {
    const key = plain ?? braced ?? '';
    return (/^\d+$/.test(key) ? match[Number(key)] : match.groups?.[key]) ?? '';
  });
}

export function readsSeries(series: string, { series: selector, filters }: AdapterRule): boolean {
  if (selector.name !== null && selector.name !== series) return false;
  return [...selector.patterns, ...filters].every(
    ({ pattern, isWanted }) => pattern.test(series) === isWanted,
  );
}
