import { isPlainObject, type PlainObject, valueAt } from '../../scaler/plain-json.js';
import { readPlain } from '../../scaler/read/read-plain.js';
import type { Path } from '../../scaler/problems/finding.js';
import { type Fields, readFields } from '../manifest/fields.js';
import { type Remark, createRemarkLog } from '../draft/draft.js';
import {
  type AdapterRule,
  type NameRule,
  type SeriesFilter,
  type SeriesSelector,
  type LabelPlaces,
  singularOf,
  safePattern,
} from './adapter-rule.js';
import { quoteRegex, readStringLiteral } from '../../promql/quoting.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';

export interface AdapterConfig {
  readonly rules: readonly AdapterRule[];
  /** `resourceRules`: maps a resource to its query. */
  readonly resources: ReadonlyMap<string, string>;
  /** Remarks about rules that cannot be read. */
  readonly remarks: readonly Remark[];
}

/**
 * Reads the config of prometheus-adapter, or `rules` in the values of its Helm chart. Accepts any JSON value without
 * throwing.
 */
export function readAdapter(given: unknown): AdapterConfig {
  const remarks: Remark[] = [];
  const log = createRemarkLog(remarks);
  const { value } = readPlain(given);
  const config = readFields(value, [], log);
  if (config === null) return { rules: [], resources: new Map(), remarks };
  const chart = isPlainObject(config.raw('rules')) ? config.object('rules') : undefined;
  const custom = (chart === undefined ? config.list('rules') : chart.list('custom')) ?? [];
  const external = (chart === undefined ? config.list('externalRules') : chart.list('external')) ?? [];
  const resource = chart === undefined ? config.object('resourceRules') : chart.object('resource');
  if (chart?.flag('default') !== false && chart !== undefined)
    log.lose(
      ['rules', 'default'],
      'is not false, so the chart adds default rules, which this file does not contain. Pass the ConfigMap of prometheus-adapter instead',
    );
  if (chart === undefined) config.rest();
  return {
    rules: [
      ...custom.flatMap((rule) => readRule(rule, 'custom') ?? []),
      ...external.flatMap((rule) => readRule(rule, 'external') ?? []),
    ],
    resources: readResources(resource),
    remarks,
  };
}

function readRule(rule: Fields, api: AdapterRule['api']): AdapterRule | null {
  const { log, path } = rule;
  const fail = (field: string, message: string): null => {
    log.lose([...path, field], `${message}; the rule is not used`);
    return null;
  };
  const seriesQuery = rule.text('seriesQuery');
  const metricsQuery = rule.text('metricsQuery');
  if (seriesQuery === undefined) return fail('seriesQuery', 'is missing');
  if (metricsQuery === undefined) return fail('metricsQuery', 'is missing');
  const series = readSeriesQuery(seriesQuery);
  if (series === null) return fail('seriesQuery', 'is not a selector with supported patterns');
  const filters = readFilters(rule);
  if (filters === null) return fail('seriesFilters', 'has an unsupported pattern');
  const name = readName(rule.object('name'));
  if (name === null) return fail('name', 'has an unsupported pattern');
  const resources = rule.object('resources');
  const isNamespaced = api === 'custom' || resources?.flag('namespaced') !== false;
  const labels = readLabels(resources);
  resources?.rest();
  rule.skip('metricsQueryNamespaced');
  rule.rest();
  return { location: locationOf(path), api, series, filters, name, metricsQuery, labels, isNamespaced };
}

function locationOf(path: Path): string {
  return `${path.slice(0, -1).join('.')}[${String(path.at(-1))}]`;
}

function readFilters(rule: Fields): readonly SeriesFilter[] | null {
  const filters: SeriesFilter[] = [];
  for (const filter of rule.list('seriesFilters') ?? []) {
    for (const [key, isWanted] of [
      ['is', true],
      ['isNot', false],
    ] as const) {
      const source = filter.text(key);
      if (source === undefined || source === '') continue;
      const pattern = safePattern(source);
      if (pattern === null) return null;
      filters.push({ pattern, isWanted });
    }
    filter.rest();
  }
  return filters;
}

/**
 * Reads how a rule names its metric. If `as` is unset, the metric has the name of the only group of `matches`, or of
 * the whole match if there is no group. Null: a pattern is not supported, or there are several groups. Source:
 * pkg/naming/metric_namer.go
 */
function readName(name: Fields | undefined): NameRule | null {
  const written = name?.text('matches') ?? '';
  const source = written === '' ? '.*' : written;
  const as = name?.text('as') ?? '';
  name?.rest();
  const matches = safePattern(source);
  if (matches === null) return null;
  if (as !== '') return { matches, source, as };
  const groups = (new RegExp(`${matches.source}|`).exec('')?.length ?? 1) - 1;
  return groups > 1 ? null : { matches, source, as: `\${${groups}}` };
}

function readLabels(resources: Fields | undefined): LabelPlaces {
  const overrides = new Map<string, string>();
  const written = resources?.raw('overrides');
  for (const [label, target] of Object.entries(isPlainObject(written) ? written : {})) {
    const resource: unknown = isPlainObject(target) ? target['resource'] : undefined;
    if (typeof resource === 'string') overrides.set(singularOf(resource), label);
  }
  return { overrides, template: resources?.text('template') ?? null };
}

function readResources(resource: Fields | undefined): ReadonlyMap<string, string> {
  const queries = ['cpu', 'memory'].flatMap((name) => {
    const rule: unknown = resource?.raw(name);
    const query = isPlainObject(rule) ? queryOf(rule) : null;
    return query === null ? [] : [[name, query] as const];
  });
  return new Map(queries);
}

function queryOf(rule: PlainObject): string | null {
  const { containerQuery } = rule;
  return typeof containerQuery === 'string' ? containerQuery : null;
}

const NAME = /^\s*([A-Za-z_:][\w:]*)\s*(?:\{|$)/;
const NAME_MATCHER = /(?<!\w)__name__\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)/g;

/**
 * Returns the only name that a pattern such as `^queue_depth$` can match; null: there are several. Prometheus anchors
 * patterns.
 */
function literalOf(pattern: string): string | null {
  const name = pattern.replace(/^\^|\$$/g, '');
  return /^[A-Za-z_:][\w:]*$/.test(name) ? name : null;
}

/** Reads how a selector selects the metric name; null: a pattern in the selector is not supported. */
function readSeriesQuery(query: string): SeriesSelector | null {
  let name = NAME.exec(query)?.[1] ?? null;
  const patterns: SeriesFilter[] = [];
  for (const [, operator, literal = ''] of query.matchAll(NAME_MATCHER)) {
    const value = readStringLiteral(literal);
    const only = operator === '=' ? value : operator === '=~' ? literalOf(value) : null;
    if (only !== null) name = only;
    else if (operator === '!=')
      patterns.push({ pattern: new RegExp(`^${quoteRegex(value)}$`), isWanted: false });
    else {
      const pattern = safePattern(`^(?:${value})$`);
      if (pattern === null) return null;
      patterns.push({ pattern, isWanted: operator === '=~' });
    }
  }
  return { name, patterns };
}

interface ReadAdapterText {
  /** Null: the file contains no rules. */
  readonly config: AdapterConfig | null;
  readonly problems: readonly Problem[];
}

const RULE_FIELDS = ['rules', 'externalRules', 'resourceRules'];

/** Reads the config of prometheus-adapter, from its own file, a ConfigMap, or the values of its Helm chart. */
export function readAdapterText(text: string, file: string): ReadAdapterText {
  const documents = readYaml(text, file);
  const problems = documents.flatMap((document) => document.problems);
  const found = documents.map(({ value }) => value).find((value) => value !== undefined);
  const inner = valueAt(found, ['data', 'config.yaml']);
  if (typeof inner === 'string' && valueAt(found, ['kind']) === 'ConfigMap')
    return readAdapterText(inner, file);
  const hasRules = isPlainObject(found) && RULE_FIELDS.some((field) => Object.hasOwn(found, field));
  return { config: hasRules ? readAdapter(found) : null, problems };
}
