import { splitSegments } from './segments.js';

interface Replacement {
  readonly from: number;
  readonly word: string;
  /** The replacement. It is as long as `word`, so that later offsets stay valid. */
  readonly text: string;
}

interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'variable' | 'other';
  readonly text: string;
  readonly from: number;
}

/** Operators that only MetricsQL has. The parser reads `or` in their place, but the expression keeps the operator. */
const OPERATORS: ReadonlySet<string> = new Set(['default', 'if', 'ifnot']);

const AGGREGATIONS: ReadonlySet<string> = new Set([
  'any',
  'bottomk_avg',
  'bottomk_last',
  'bottomk_max',
  'bottomk_median',
  'bottomk_min',
  'distinct',
  'geomean',
  'histogram',
  'mad',
  'median',
  'mode',
  'outliers_iqr',
  'outliers_mad',
  'outliersk',
  'quantiles',
  'share',
  'sum2',
  'topk_avg',
  'topk_last',
  'topk_max',
  'topk_median',
  'topk_min',
  'zscore',
]);

/** Functions that only MetricsQL has. Source: MetricsQL reference, VictoriaMetrics 1.9x. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  [
    'aggr_over_time alias ascent_over_time bitmap_and bitmap_or bitmap_xor buckets_limit count_eq_over_time',
    'count_gt_over_time count_le_over_time count_ne_over_time count_values_over_time decreases_over_time',
    'default_rollup deriv_fast descent_over_time distinct_over_time drop_common_labels drop_empty_series duration_over_time',
    'geomean_over_time histogram_over_time histogram_share hoeffding_bound_lower',
    'hoeffding_bound_upper ideriv increase_prometheus increase_pure increases_over_time integrate interpolate',
    'iqr_over_time keep_last_value keep_next_value label_copy label_del label_graphite_group label_keep label_lowercase',
    'label_map label_match label_mismatch label_move label_set label_transform label_uppercase label_value labels_equal',
    'lag lifetime limit_offset median_over_time mode_over_time now outlier_iqr_over_time prometheus_buckets',
    'quantiles_over_time rand rand_exponential rand_normal range_avg range_first range_last range_linear_regression',
    'range_mad range_max range_median range_min range_normalize range_quantile range_stddev range_stdvar range_sum',
    'range_trim_outliers range_trim_spikes range_trim_zscore range_over_time range_zscore rate_over_sum rate_prometheus',
    'remove_resets rollup rollup_candlestick rollup_delta rollup_deriv rollup_increase rollup_rate rollup_scrape_interval',
    'ru running_avg running_max running_min running_sum scrape_interval share_eq_over_time share_gt_over_time',
    'share_le_over_time smooth_exponential sort_by_label_numeric sort_by_label_numeric_desc stale_samples_over_time',
    'sum2_over_time sum_eq_over_time sum_gt_over_time sum_le_over_time tfirst_over_time',
    'timezone_offset tlast_change_over_time tlast_over_time tmax_over_time tmin_over_time ttf union zscore_over_time',
  ].flatMap((line) => line.split(' ')),
);

export const NEEDS_METRICSQL = 'the query needs a data source with flavor: victoriametrics';

/** Returns whether MetricsQL, but not PromQL, has a function of this name. */
export function isMetricsqlFunction(name: string): boolean {
  return FUNCTIONS.has(name) || AGGREGATIONS.has(name);
}

const TOKEN = /\s+|\$[A-Za-z_]\w*|[A-Za-z_:][\w:]*|(?:\d|\.\d)[\w.]*|[=!]~|[=!<>]=|[^\s]/gy;
const SIZE = /^([\d.]+)[kmgt]i?b?$/i;
const STEPS = /^[\d.][a-z\d.]*$/;
export const WITH_TEMPLATE = /^\s*WITH\s*\(/i;

/**
 * Replaces MetricsQL with PromQL of the same length, so that offsets stay valid. The result is only for the syntax
 * tree, not for a server. Null: no MetricsQL was found, or the query is a WITH template.
 */
export function rewriteMetricsql(query: string): string | null {
  const replacements = findReplacements(query);
  if (replacements.length === 0) return null;
  let text = '';
  let position = 0;
  for (const { from, text: written } of replacements) {
    text += query.slice(position, from) + written;
    position = from + written.length;
  }
  return text + query.slice(position);
}

/** Returns the first part of a query that is valid only in MetricsQL; null: none was found. */
export function firstMetricsql(query: string): { readonly offset: number; readonly word: string } | null {
  const [first] = findReplacements(query);
  return first === undefined ? null : { offset: first.from, word: first.word };
}

function findReplacements(query: string): readonly Replacement[] {
  if (WITH_TEMPLATE.test(query)) return [];
  const tokens = tokensOf(query);
  const found: Replacement[] = [];
  const brackets: string[] = [];
  tokens.forEach((token, index) => {
    const neighbors = { before: tokens[index - 1], after: tokens[index + 1], bracket: brackets.at(-1) };
    const text = replacementOf(token, neighbors);
    if (text !== null)
      found.push({ from: token.from, word: token.text, text: text.padEnd(token.text.length) });
    if ('([{'.includes(token.text)) brackets.push(token.text);
    if (')]}'.includes(token.text)) brackets.pop();
  });
  return found;
}

/** Returns the replacement of a token; null: the token is PromQL. */
function replacementOf(
  { kind, text }: Token,
  {
    before,
    after,
    bracket,
  }: {
    readonly before: Token | undefined;
    readonly after: Token | undefined;
    readonly bracket: string | undefined;
  },
): string | null {
  const isBehindOperand = before !== undefined && endsOperand(before);
  if (kind === 'word' && bracket === '{') return isBehindOperand && text.toLowerCase() === 'or' ? ',' : null;
  if (kind === 'word' && isBehindOperand) {
    const word = text.toLowerCase();
    if (OPERATORS.has(word)) return 'or';
    return word === 'keep_metric_names' || (word === 'limit' && after?.kind === 'number') ? '' : null;
  }
  if (kind === 'word') {
    const isCalled = after !== undefined && /^(?:\(|by|without)$/i.test(after.text);
    return isCalled && AGGREGATIONS.has(text.toLowerCase()) ? 'sum' : null;
  }
  if (kind === 'number') {
    const isLimit = before?.kind === 'word' && before.text.toLowerCase() === 'limit';
    return isLimit ? '' : numberOf(text, bracket);
  }
  return text === ',' && after?.text === ')' && bracket === '(' ? '' : null;
}

/**
 * Returns the replacement of a size such as 8Ki or, within a range, of a step (5i) or a fraction (1.5h); null: it is
 * PromQL.
 */
function numberOf(text: string, bracket: string | undefined): string | null {
  const size = SIZE.exec(text);
  // `5m` is not a size but a duration, which Prometheus 3 accepts as a number.
  if (size !== null && !text.endsWith('m')) return size[1] ?? null;
  if (bracket !== '[' || !STEPS.test(text) || !/\d/.test(text)) return null;
  const known = text.replaceAll('i', 's').replaceAll('.', '0');
  return known === text ? null : known;
}

function endsOperand({ kind, text }: Token): boolean {
  if (kind === 'other') return text === ')' || text === ']' || text === '}';
  return kind !== 'word' || !/^(?:and|or|unless|bool|by|without|default|if|ifnot|atan2)$/i.test(text);
}

function tokensOf(query: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const { kind, from, to } of splitSegments(query)) {
    if (kind === 'string') tokens.push({ kind, text: query.slice(from, to), from });
    if (kind !== 'code') continue;
    for (const match of query.slice(from, to).matchAll(TOKEN)) {
      const [text] = match;
      if (text.trim() === '') continue;
      tokens.push({ kind: kindOf(text), text, from: from + match.index });
    }
  }
  return tokens;
}

function kindOf(text: string): Token['kind'] {
  if (/^[A-Za-z_:]/.test(text)) return 'word';
  if (/^\.?\d/.test(text)) return 'number';
  return text.startsWith('$') && text.length > 1 ? 'variable' : 'other';
}
