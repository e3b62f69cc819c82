import { metricNames } from '../../promql/vector-selectors.js';
import { BUILT_IN } from '../../scaler/schema/presets.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { usageError } from '../output/io.js';
import type { ClusterOptions } from '../reach/cluster-options.js';

export interface NewOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly name?: string;
  readonly min: string;
  readonly max?: string;
  readonly cpuPercent?: string;
  readonly memoryPercent?: string;
  readonly query?: string;
  readonly averageValue?: string;
  readonly value?: string;
  readonly preset?: string;
  readonly outputFile?: string;
  readonly offline?: boolean;
}

export type NewMetric = NewResource | NewQuery;

interface NewResource {
  readonly type: 'Resource';
  readonly resource: 'cpu' | 'memory';
  /** Target utilization in percent of the requests. */
  readonly percent: number;
}

export interface NewQuery {
  readonly type: 'Pods' | 'External';
  readonly query: string;
  /** Null: the name is derived from the query. */
  readonly name: string | null;
  readonly target: { readonly member: 'averageValue' | 'value'; readonly quantity: string };
}

export interface NewRequest {
  readonly min: number;
  readonly max: number;
  /** Null: the default preset. */
  readonly preset: string | null;
  readonly metrics: readonly NewMetric[];
}

/**
 * Parses numbers, and rejects options that cannot be combined. Other values are checked as part of the document. Throws
 * `CommandError`.
 */
export function readNewOptions(options: NewOptions): NewRequest {
  if (options.max === undefined) throw usageError('--max is required: the maximum number of replicas');
  return {
    min: readCount('--min', options.min, 0),
    max: readCount('--max', options.max, 1),
    preset: options.preset ?? null,
    metrics: readMetrics(options),
  };
}

function readMetrics(options: NewOptions): readonly NewMetric[] {
  const { cpuPercent, memoryPercent } = options;
  const metrics: NewMetric[] = [];
  if (cpuPercent !== undefined) metrics.push(resourceMetric('cpu', cpuPercent));
  if (memoryPercent !== undefined) metrics.push(resourceMetric('memory', memoryPercent));
  const query = readQuery(options);
  if (query !== null) metrics.push(query);
  const cpu = { type: 'Resource', resource: 'cpu', percent: BUILT_IN.cpuUtilizationPercent } as const;
  return metrics.length === 0 ? [cpu] : metrics;
}

function resourceMetric(resource: 'cpu' | 'memory', text: string): NewResource {
  return { type: 'Resource', resource, percent: readCount(`--${resource}-percent`, text, 1) };
}

function readQuery({ query, averageValue, value }: NewOptions): NewQuery | null {
  const [target, second] = [
    { option: '--average-value', member: 'averageValue', quantity: averageValue } as const,
    { option: '--value', member: 'value', quantity: value } as const,
  ].flatMap(({ quantity, ...rest }) => (quantity === undefined ? [] : [{ ...rest, quantity }]));
  if (query === undefined) {
    if (target === undefined) return null;
    throw usageError(`${target.option} needs --query, because it is the target value of a query`);
  }
  if (query.trim() === '') throw usageError('--query is empty, must be a PromQL query');
  if (second !== undefined) throw usageError('--average-value and --value cannot be combined');
  if (target === undefined)
    throw usageError('--query needs --average-value (per pod) or --value (for all pods together)');
  const { member, quantity } = target;
  return {
    type: member === 'averageValue' && isPerPod(query) ? 'Pods' : 'External',
    query: query.trim(),
    name: metricNames(query).length === 0 ? 'query' : null,
    target: { member, quantity },
  };
}

const AGGREGATION =
  /^(?:sum|avg|min|max|count|quantile|group|stddev|stdvar)\b\s*(?:(by|without)\s*\(([^)]*)\))?/i;
const GROUPING_AT_END = /\)\s*(by|without)\s*\(([^)]*)\)$/i;

/**
 * Guesses whether a query returns one series for each pod: either its outermost aggregation keeps the label `pod`, or
 * it has no aggregation and contains `$pods`. A comment in the document explains the guess.
 */
function isPerPod(query: string): boolean {
  const text = query.trim();
  const aggregation = AGGREGATION.exec(text);
  const grouping = aggregation?.[1] === undefined ? GROUPING_AT_END.exec(text) : aggregation;
  const [, word, labels = ''] = grouping ?? [];
  if (word === undefined) return aggregation === null && text.includes('$pods');
  const hasPod = labels.split(',').some((label) => label.trim() === 'pod');
  return word.toLowerCase() === 'by' ? hasPod : !hasPod && text.includes('$pods');
}

function readCount(option: string, text: string, least: number): number {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= MAX_REPLICAS) return count;
  throw usageError(`${option} is ${text}, must be an integer from ${least} to ${MAX_REPLICAS}`);
}
