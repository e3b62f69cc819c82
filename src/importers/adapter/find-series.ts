import { quoteRegex } from '../../promql/quoting.js';
import { type AdapterRule, metricNameOf, readsSeries } from './adapter-rule.js';

/** The name of a series that a rule maps to a metric. */
interface FoundSeries {
  readonly name: string;
  /** Whether the rule maps several series to the metric, so this one may not exist. */
  readonly isGuess: boolean;
}

/** Suffixes that rules usually remove from the name of a series. They are tried if a rule cannot be inverted. */
const SUFFIXES = ['', '_total', '_seconds_total', '_count', '_sum', '_bucket', '_bytes'];

/**
 * Returns names of series that a rule maps to `metric`, the best one first. The adapter lists all series in Prometheus
 * and applies the rule to each. Here, the rule is inverted instead, and then applied to each candidate to verify it.
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
  // More than two groups can match a name in too many ways.
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
