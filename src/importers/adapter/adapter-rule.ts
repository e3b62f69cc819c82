/** A rule of prometheus-adapter. It maps series in Prometheus to metrics of an API of Kubernetes. */
export interface AdapterRule {
  /** Where the rule is in the config, for example `rules[2]`. */
  readonly location: string;
  readonly api: 'custom' | 'external';
  readonly series: SeriesSelector;
  /** `seriesFilters` of the rule, with `is` and `isNot`. */
  readonly filters: readonly SeriesFilter[];
  readonly name: NameRule;
  readonly metricsQuery: string;
  readonly labels: LabelPlaces;
  /** Whether a query selects a namespace. Only a rule of external metrics may set this to false. */
  readonly isNamespaced: boolean;
}

/** Selects series by an exact name or by patterns. */
export interface SeriesSelector {
  /** The exact name; null: there are only patterns. */
  readonly name: string | null;
  readonly patterns: readonly SeriesFilter[];
}

export interface SeriesFilter {
  readonly pattern: RegExp;
  readonly isWanted: boolean;
}

export interface NameRule {
  readonly matches: RegExp;
  /** The pattern of `matches` as the rule states it. */
  readonly source: string;
  /** The name of the metric, which may contain groups such as `${1}`. */
  readonly as: string;
}

const GROUP = /\$(?:(\w+)|\{(\w+)\})/g;

/** Returns the metric name for a series; null: the rule does not match the series (pkg/naming/metric_namer.go). */
export function metricNameOf(series: string, { matches, as }: NameRule): string | null {
  const match = matches.exec(series);
  if (match === null) return null;
  // As in Go, `$1_total` is the group named `1_total`, which does not exist, while `${1}_total` contains the first
  // group.
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

/** `resources` of a rule: the labels of series that contain the names of objects. */
export interface LabelPlaces {
  /** Maps a resource in the singular (`pod`, `namespace`) to its label. */
  readonly overrides: ReadonlyMap<string, string>;
  /** Template for other labels, for example `kube_<<.Resource>>`; null: there is none. */
  readonly template: string | null;
}

/**
 * Returns the label that contains the names of a resource (`pod`, `ingress`); null: the rule has none. `group`: the API
 * group of the resource; empty: the core group. Source: pkg/naming/resource_converter.go
 */
export function labelOf(resource: string, { overrides, template }: LabelPlaces, group = ''): string | null {
  const label = overrides.get(resource);
  if (label !== undefined) return label;
  if (template === null) return null;
  const text = template.replace(/<<-?\s*\.(Resource|Group)\s*-?>>/g, (_, field: string) =>
    field === 'Resource' ? resource : group.replace(/[.-]/g, '_'),
  );
  return /^[A-Za-z_]\w*$/.test(text) ? text : null;
}

const PLURALS: Readonly<Record<string, string>> = { ingresses: 'ingress', statuses: 'status' };

/** Returns the singular of a resource, because an override may use either form. */
export function singularOf(resource: string): string {
  const name = resource.toLowerCase();
  const known = PLURALS[name];
  if (known !== undefined) return known;
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : name;
}

const LONGEST_PATTERN = 500;

/**
 * Matches a repeated group. A match with repeated groups or many repetitions could take forever, because JavaScript
 * backtracks, unlike RE2.
 */
const REPEATED_GROUP = /\)(?:[*+]|\{\d+,)/;
const MOST_REPETITIONS = 3;

/** Matches syntax with another meaning in JavaScript: named character classes, and escapes such as `\z` and `\Q`. */
const OTHER_MEANING = /\[\[:|\\[AzZQECpP]/;

/**
 * Converts an RE2 pattern to a regular expression. Null: the pattern is invalid, means something else in JavaScript, or
 * could take too long for names of `LONGEST_NAME` characters.
 */
export function safePattern(source: string): RegExp | null {
  if (source.length > LONGEST_PATTERN || REPEATED_GROUP.test(source) || OTHER_MEANING.test(source))
    return null;
  const repetitions = source.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  if (repetitions.length > MOST_REPETITIONS) return null;
  const isCaseless = source.startsWith('(?i)');
  const text = (isCaseless ? source.slice('(?i)'.length) : source).replaceAll('(?P<', '(?<');
  try {
    return new RegExp(text, isCaseless ? 'i' : '');
  } catch {
    return null;
  }
}

/** Longer metric names are not looked up. */
export const LONGEST_NAME = 200;
