import { metricNames } from '../../promql/vector-selectors.js';
import { didYouMean } from '../../scaler/problems/nearest.js';
import { listSome } from '../../units/format.js';
import type { FoundQuery, MetricQueries, NamedMetric } from '../manifest/named-metric.js';
import { type AdapterRule, labelOf, LONGEST_NAME, metricNameOf, readsSeries } from './adapter-rule.js';
import type { AdapterConfig } from './read-adapter.js';
import { quoteRegex } from '../../promql/quoting.js';

interface Candidate {
  readonly rule: AdapterRule;
  readonly series: string;
  /** Whether the rule maps several series to the metric, so `series` may not exist. */
  readonly isGuess: boolean;
  /** Null: the template or the labels of the rule cannot be converted. */
  readonly query: string | null;
}

const MOST_SHOWN = 6;

export function adapterQueries({ rules }: AdapterConfig): MetricQueries {
  return (metric) => {
    if (metric.name.length > LONGEST_NAME)
      return unknown('the name of the metric is too long for prometheus-adapter');
    const api = metric.member === 'external' ? 'external' : 'custom';
    const all = rules
      .filter((rule) => rule.api === api)
      .flatMap((rule) =>
        findSeries(metric.name, rule).map(({ name: series, isGuess }) => ({
          rule,
          series,
          isGuess,
          query: buildQuery(metric, series, rule),
        })),
      );
    return all.length === 0 ? unknown(whyNoRule(metric.name, api, rules)) : choose(all);
  };
}

/**
 * Chooses a query. If a rule names a series exactly, this series is assumed to exist. If several rules match, the last
 * one applies, as in the adapter. Source: pkg/custom-provider/series_registry.go
 */
function choose(all: readonly Candidate[]): FoundQuery {
  const exact = new Set(all.filter(({ rule }) => rule.series.name !== null).map(({ series }) => series));
  const candidates = exact.size > 0 ? all.filter(({ series }) => exact.has(series)) : all;
  const last = candidates.at(-1);
  if (last === undefined) return unknown('no rule of --adapter-config matches the metric');
  const isUnsure = exact.size === 0 && (candidates.length > 1 || last.isGuess);
  if (isUnsure) return severalSeries(candidates);
  const { rule, query } = last;
  if (query === null)
    return unknown(`${rule.location} of --adapter-config cannot be converted:\n  ${rule.metricsQuery}`);
  const note = `The query is from ${rule.location} in the config of prometheus-adapter.`;
  return { query, notes: isForAllNamespaces(rule) ? [note, inAllNamespaces(rule)] : [note] };
}

const LISTS: Readonly<Record<AdapterRule['api'], string>> = { custom: 'rules', external: 'externalRules' };
const MOST_NAMES = 10;

/**
 * Returns the reason that no rule matches, with the names of metrics that the rules produce. `*` replaces a part of a
 * name that depends on the series.
 */
function whyNoRule(name: string, api: AdapterRule['api'], rules: readonly AdapterRule[]): string {
  const other = rules.filter((rule) => rule.api !== api && findSeries(name, rule).length > 0);
  const [first] = other;
  const none = `no rule in ${LISTS[api]} of --adapter-config matches the metric`;
  if (first !== undefined)
    return `${none}, but ${first.location} matches it and is for ${api === 'external' ? 'Pods and Object metrics' : 'External metrics'}`;
  const names = rules.filter((rule) => rule.api === api).flatMap(producedName);
  const produced = [...new Set(names)];
  if (produced.length === 0) return `${none}: the file has no ${LISTS[api]}`;
  const hint = didYouMean(name, produced);
  return `${none}; the rules produce ${listSome(produced, MOST_NAMES)}${hint}`;
}

function producedName({ series, name: rule }: AdapterRule): readonly string[] {
  if (series.name === null) return [rule.as.replaceAll(/\$(?:\w+|\{\w+\})/g, '*')];
  const name = metricNameOf(series.name, rule);
  return name === null ? [] : [name];
}

/** Returns whether a rule of external metrics selects all namespaces, because it has no label for the namespace. */
function isForAllNamespaces({ api, isNamespaced, labels }: AdapterRule): boolean {
  return api === 'external' && isNamespaced && labelOf('namespace', labels) === null;
}

function inAllNamespaces({ location }: AdapterRule): string {
  return `${location} has no label for the namespace: prometheus-adapter rejects this rule, and the converted query selects all namespaces.`;
}

/** Returns the possible queries without choosing one, because only Prometheus knows which of the series exist. */
function severalSeries(candidates: readonly Candidate[]): FoundQuery {
  const shown = candidates
    .flatMap(({ query }) => (query === null ? [] : [`  ${query}`]))
    .slice(0, MOST_SHOWN);
  const reason = 'the metric may come from several series. Choose the query whose series exists:';
  return { query: null, reason, candidates: shown };
}

function unknown(reason: string): FoundQuery {
  return { query: null, reason };
}

interface Labels {
  readonly matchers: readonly string[];
  readonly groupBy: readonly string[];
  readonly values: ReadonlyMap<string, string>;
}

function buildQuery(metric: NamedMetric, series: string, rule: AdapterRule): string | null {
  const labels = labelsOf(metric, rule);
  if (labels === null) return null;
  const query = fillTemplate(rule.metricsQuery, {
    series,
    matchers: [...metric.selector.matchers, ...labels.matchers],
    groupBy: labels.groupBy,
    valuesByName: new Map([...metric.selector.values, ...labels.values]),
  });
  const pod = metric.member === 'pods' ? labelOf('pod', rule.labels) : null;
  if (query === null || pod === null || pod === 'pod') return query;
  return `label_replace(${query}, "pod", "$1", "${pod}", "(.+)")`;
}

/** Returns the labels of a query; null: the rule has no label for the namespace or for the objects of the metric. */
function labelsOf({ member, objectKind, objectGroup }: NamedMetric, rule: AdapterRule): Labels | null {
  const namespace = labelOf('namespace', rule.labels);
  const inNamespace: readonly Place[] =
    namespace === null || !rule.isNamespaced ? [] : [[namespace, '=', '$namespace']];
  if (member === 'external') return joined(inNamespace, []);
  if (namespace === null) return null;
  if (member === 'pods') {
    const pod = labelOf('pod', rule.labels);
    return pod === null ? null : joined([...inNamespace, [pod, '=~', '$pods']], [pod]);
  }
  const kind = (objectKind ?? '').toLowerCase();
  const label = labelOf(kind, rule.labels, objectGroup ?? '');
  if (label === null) return null;
  return joined([...(kind === 'namespace' ? [] : inNamespace), [label, '=', '$object']], [label]);
}

type Place = readonly [label: string, operator: string, variable: string];

function joined(places: readonly Place[], groupBy: readonly string[]): Labels {
  return {
    matchers: places.map(([label, operator, variable]) => `${label}${operator}"${variable}"`),
    groupBy,
    values: new Map(places.map(([label, , variable]) => [label, variable])),
  };
}

/** The series that the default resource queries of a data source read. */
const USUAL_SERIES: Readonly<Record<string, string>> = {
  cpu: 'container_cpu_usage_seconds_total',
  memory: 'container_memory_working_set_bytes',
};

/** Returns a remark for each resource query of the adapter that reads other series than promscaler does. */
export function unusualResources({ resources }: AdapterConfig): readonly string[] {
  return [...resources].flatMap(([name, template]) => {
    const query = fillTemplate(template, {
      series: '',
      matchers: ['namespace=~"$namespaces"'],
      groupBy: ['namespace', 'pod', 'container'],
      valuesByName: new Map(),
    });
    const names = query === null ? [] : metricNames(query);
    if (names.length === 1 && names[0] === USUAL_SERIES[name]) return [];
    return [
      `resourceRules.${name}: Resource metrics use the field resourceQueries.${name} of the data source. Set this field to ${query ?? template}`,
    ];
  });
}

interface TemplateValues {
  readonly series: string;
  /** For example `namespace="$namespace"`. */
  readonly matchers: readonly string[];
  readonly groupBy: readonly string[];
  /** Maps a label to the value that an exact matcher requires. */
  readonly valuesByName: ReadonlyMap<string, string>;
}

const ACTION = /<<([^<>]*)>>/g;
const INDEX = /^index +\.LabelValuesByName +"([^"]*)"$/;

/**
 * Fills in a query template; null: it contains an unsupported action of Go templates. Source:
 * pkg/naming/metrics_query.go
 */
function fillTemplate(template: string, values: TemplateValues): string | null {
  // Removes trim markers: `<<- .Series ->>` means the same as `<<.Series>>` here.
  const plain = template.replace(ACTION, (_, action: string) => `<<${action.replace(/^-|-$/g, '').trim()}>>`);
  const texts: string[] = [];
  let at = 0;
  const source = withoutEmpty(plain, values);
  for (const { 0: whole, 1: action = '', index } of source.matchAll(ACTION)) {
    const value = valueOf(action, values);
    if (value === null) return null;
    texts.push(source.slice(at, index), value);
    at = index + whole.length;
  }
  const text = [...texts, source.slice(at)].join('').trim();
  return text.includes('<<') ? null : text;
}

/** Removes empty lists from a template, with their commas and brackets. */
function withoutEmpty(template: string, { matchers, groupBy }: TemplateValues): string {
  const withMatchers =
    matchers.length > 0
      ? template
      : template
          .replace(/<<\.LabelMatchers>> ?, ?/g, '')
          .replace(/, ?<<\.LabelMatchers>>/g, '')
          .replace(/\{ ?<<\.LabelMatchers>> ?\}/g, '');
  return groupBy.length > 0 ? withMatchers : withMatchers.replace(/ ?\bby ?\( ?<<\.GroupBy>> ?\)/g, '');
}

function valueOf(action: string, { series, matchers, groupBy, valuesByName }: TemplateValues): string | null {
  if (action === '.Series') return series;
  if (action === '.LabelMatchers') return matchers.join(', ');
  if (action === '.GroupBy' || action === '.GroupBySlice') return groupBy.join(', ');
  const label = INDEX.exec(action)?.[1] ?? /^\.LabelValuesByName\.(\w+)$/.exec(action)?.[1];
  return label === undefined ? null : (valuesByName.get(label) ?? null);
}

/** The name of a series that a rule maps to a metric. */
interface FoundSeries {
  readonly name: string;
  /** Whether the rule maps several series to the metric, so the series `name` may not exist. */
  readonly isGuess: boolean;
}

/** Suffixes that rules usually remove from the name of a series. They are tried if a rule cannot be inverted. */
const SUFFIXES = ['', '_total', '_seconds_total', '_count', '_sum', '_bucket', '_bytes'];

/**
 * Returns names of series that a rule maps to `metric`, the best one first. The adapter lists all series in Prometheus
 * and applies the rule to each. Here, the rule is inverted instead, and then applied to each candidate to verify it.
 */
function findSeries(metric: string, rule: AdapterRule): readonly FoundSeries[] {
  const { name } = rule.series;
  if (name !== null)
    return verified([name], metric, rule).map((series) => ({ name: series, isGuess: false }));
  const isFixed = !GROUP.test(rule.name.as);
  const candidates = isFixed
    ? namesInPatterns(rule)
    : [...inverted(metric, rule), ...SUFFIXES.map((suffix) => `${metric}${suffix}`)];
  return verified(candidates, metric, rule).map((series) => ({ name: series, isGuess: isFixed }));
}

function verified(candidates: readonly string[], metric: string, rule: AdapterRule): readonly string[] {
  const found = candidates.filter(
    (series) =>
      /^[A-Za-z_:][\w:]*$/.test(series) &&
      readsSeries(series, rule) &&
      metricNameOf(series, rule.name) === metric,
  );
  return [...new Set(found)];
}

const GROUP = /\$(?:\w|\{)/;

/** Returns names that match the patterns of a rule: for `^nginx_(?:in|out)_.*`, these are nginx_in_ and nginx_out_. */
function namesInPatterns({ series: { patterns } }: AdapterRule): readonly string[] {
  return patterns.flatMap(({ pattern, isWanted }) =>
    isWanted
      ? alternatives(pattern.source.replace(/^\^\(\?:\^?|\$?\)\$$|\.\*/g, '').replaceAll('(?:', '('))
      : [],
  );
}

/** Inverts a name: with `as: "${1}_per_second"` and `matches: "^(.*)_total$"`, `x_per_second` becomes `x_total`. */
function inverted(metric: string, { name: { as, source } }: AdapterRule): readonly string[] {
  const groups: string[] = [];
  const pattern = as.split(/(\$(?:\w+|\{\w+\}))/).map((part) => {
    const group = /^\$\{?(\w+)\}?$/.exec(part)?.[1];
    if (group === undefined) return quoteRegex(part);
    groups.push(group);
    return '([\\w:]*)';
  });
  // If there are more than two groups, a name can match in too many ways.
  if (groups.length > 2) return [];
  const match = new RegExp(`^${pattern.join('')}$`).exec(metric);
  if (match === null) return [];
  const values = new Map(groups.map((group, index) => [group, match[index + 1] ?? '']));
  // `$0` stands for the whole name.
  const whole = values.get('0');
  return whole === undefined ? expand(source, values) : [whole];
}

/**
 * Replaces the groups of a pattern by values, and expands alternatives. Empty: the remaining pattern is not literal
 * text.
 */
function expand(source: string, values: ReadonlyMap<string, string>): readonly string[] {
  let count = 0;
  const filled = source
    .replace(/^\^|\$$/g, '')
    .replace(/\((?:\?P?<(\w+)>|(\?:))?([^()]*)\)/g, (_, named?: string, plain?: string, inner = '') => {
      if (plain !== undefined) return `(${inner as string})`;
      count += 1;
      const value = values.get(named ?? String(count)) ?? values.get(String(count));
      return value ?? `(${inner as string})`;
    });
  return alternatives(filled).filter((text) => /^[\w:]*$/.test(text));
}

/** Expands `a_(b|c)` to `a_b` and `a_c`. */
function alternatives(text: string): readonly string[] {
  const parts = /^([^()]*)\(([^()]*)\)(.*)$/.exec(text);
  if (parts === null) return [text];
  const [, before = '', inner = '', after = ''] = parts;
  const rest = alternatives(after).slice(0, 8);
  return inner
    .split('|')
    .slice(0, 8)
    .flatMap((one) => rest.map((tail) => `${before}${one}${tail}`));
}
