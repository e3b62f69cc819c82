import { isPlainObject } from '../../scaler/plain-json.js';
import { formatValue, type Path } from '../../scaler/problems/finding.js';
import { quoteRegex, stringLiteral } from '../../promql/quoting.js';
import type { Fields } from './fields.js';

export interface LabelMatchers {
  /** For example `queue="mail"`. */
  readonly matchers: readonly string[];
  /** Maps a label to its selected values, which are joined by `|`. */
  readonly values: ReadonlyMap<string, string>;
  /** Parts of the selector that PromQL cannot express; empty: there are none. */
  readonly problems: readonly SelectorProblem[];
}

interface SelectorProblem {
  readonly path: Path;
  readonly message: string;
}

const NO_MATCHERS: LabelMatchers = { matchers: [], values: new Map(), problems: [] };

const LABEL = /^[A-Za-z_]\w*$/;

/** Reads the label selector of a metric as matchers. The series in Prometheus have the same labels. */
export function readMatchers(selector: Fields | undefined): LabelMatchers {
  if (selector === undefined) return NO_MATCHERS;
  const labels = selector.raw('matchLabels');
  const matchers: string[] = [];
  const selected = new Map<string, string>();
  const problems: SelectorProblem[] = [];
  const add = (key: string, operator: string, value: string, path: Path): void => {
    if (LABEL.test(key)) matchers.push(`${key}${operator}${literal(value)}`);
    else problems.push({ path, message: `${formatValue(key)} is not the name of a label in Prometheus` });
  };
  for (const [key, value] of Object.entries(isPlainObject(labels) ? labels : {})) {
    selected.set(key, String(value));
    add(key, '=', String(value), [...selector.path, 'matchLabels']);
  }
  for (const expression of selector.list('matchExpressions') ?? []) {
    const key = expression.text('key') ?? '';
    const operator = expression.text('operator');
    const values = readValues(expression.raw('values'));
    const { path } = expression;
    const only = values.length === 1 ? values[0] : undefined;
    const pattern = values.map(quoteRegex).join('|');
    selected.set(key, values.join('|'));
    if (operator === 'In') add(key, only === undefined ? '=~' : '=', only ?? pattern, path);
    else if (operator === 'NotIn') add(key, only === undefined ? '!~' : '!=', only ?? pattern, path);
    else if (operator === 'Exists') add(key, '!=', '', path);
    else if (operator === 'DoesNotExist') add(key, '=', '', path);
    else
      problems.push({
        path: [...path, 'operator'],
        message: 'is not one of In, NotIn, Exists and DoesNotExist',
      });
    expression.rest();
  }
  selector.rest();
  return { matchers, values: selected, problems };
}

function readValues(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.map(String) : [];
}

/** Escapes dollar signs, because a dollar sign before a letter would start a variable of promscaler. */
function literal(value: string): string {
  return stringLiteral(value).replaceAll('$', String.raw`\u0024`);
}
