import type { LabelPlaces } from './label-places.js';

/** A rule of prometheus-adapter, from series in Prometheus to metrics of an API. */
export interface AdapterRule {
  /** Such as `rules[2]`. */
  readonly place: string;
  readonly api: 'custom' | 'external';
  /** The selector by which the adapter finds series. */
  readonly series: SeriesSelector;
  /** `seriesFilters`: `is` and `isNot`. */
  readonly filters: readonly SeriesFilter[];
  readonly name: NameRule;
  /** The template of the query. */
  readonly metricsQuery: string;
  readonly labels: LabelPlaces;
  /** Whether a query selects the namespace. Only rules of external metrics may set it to false. */
  readonly isNamespaced: boolean;
}

/** The name of the series, exact or as patterns. */
export interface SeriesSelector {
  /** Null: not fixed. */
  readonly name: string | null;
  readonly patterns: readonly SeriesFilter[];
}

/** A pattern that a name must match or must not match. */
export interface SeriesFilter {
  readonly pattern: RegExp;
  readonly isWanted: boolean;
}

/** How the name of a metric follows from that of its series. */
export interface NameRule {
  readonly matches: RegExp;
  /** The source of `matches`. */
  readonly source: string;
  /** With `${1}` for a group. */
  readonly as: string;
}

const GROUP = /\$(?:(\w+)|\{(\w+)\})/g;

/** Returns the name of the metric of a series; null: the rule does not name it. Source: pkg/naming/metric_namer.go */
export function metricNameOf(series: string, { matches, as }: NameRule): string | null {
  const match = matches.exec(series);
  if (match === null) return null;
  // As in Go, `$1_total` is the group `1_total`, which does not exist, and `${1}_total` the first group.
  return as.replace(GROUP, (_, plain?: string, braced?: string) => {
    const key = plain ?? braced ?? '';
    return (/^\d+$/.test(key) ? match[Number(key)] : match.groups?.[key]) ?? '';
  });
}

/** Whether a rule reads a series of this name. */
export function readsSeries(series: string, { series: selector, filters }: AdapterRule): boolean {
  if (selector.name !== null && selector.name !== series) return false;
  return [...selector.patterns, ...filters].every(
    ({ pattern, isWanted }) => pattern.test(series) === isWanted,
  );
}
