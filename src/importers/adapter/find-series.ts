import { quoteRegex } from '../../promql/quoting.js';
import { type AdapterRule, metricNameOf, readsSeries } from './adapter-rule.js';

/** A series whose name a rule maps to a metric. */
interface FoundSeries {
  readonly name: string;
  /** Whether the rule maps other series to the same metric, so that this series may not exist. */
  readonly isGuess: boolean;
}

/** Suffixes that rules usually strip from the name of a series. They are tried for rules that cannot be inverted. */
const SUFFIXES = ['', '_total', '_seconds_total', '_count', '_sum', '_bucket', '_bytes'];

/**
 * Returns names of series that a rule maps to the metric `metric`, best match first. The adapter lists all series of
 * Prometheus and names each of them. This function inverts the rule, and verifies each candidate with it.
 */
export function findSeries(metric: string, rule: AdapterRule): readonly FoundSeries[] {
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

/** Returns names that match the patterns of a rule: `^nginx_(?:in|out)_.*` gives nginx_in_ and nginx_out_. */
function namesInPatterns({ series: { patterns } }: AdapterRule): readonly string[] {
  return patterns.flatMap(({ pattern, isWanted }) =>
    isWanted
      ? alternatives(pattern.source.replace(/^\^\(\?:\^?|\$?\)\$$|\.\*/g, '').replaceAll('(?:', '('))
      : [],
  );
}

/**
 * Inverts a name rule: `as: "${1}_per_second"` with `matches: "^(.*)_total$"` maps `x_per_second` back to `x_total`.
 */
function inverted(metric: string, { name: { as, source } }: AdapterRule): readonly string[] {
  const groups: string[] = [];
  const pattern = as.split(/(\$(?:\w+|\{\w+\}))/).map((part) => {
    const group = /^\$\{?(\w+)\}?$/.exec(part)?.[1];
    if (group === undefined) return quoteRegex(part);
    groups.push(group);
    return '([\\w:]*)';
  });
  // With more than two groups, there are too many ways to split the name.
  if (groups.length > 2) return [];
  const match = new RegExp(`^${pattern.join('')}$`).exec(metric);
  if (match === null) return [];
  const values = new Map(groups.map((group, index) => [group, match[index + 1] ?? '']));
  // "$0" is the whole name.
  const whole = values.get('0');
  return whole === undefined ? expand(source, values) : [whole];
}

/**
 * Replaces the groups of a pattern with values. Empty unless the rest is literal text or alternatives of literal text.
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
