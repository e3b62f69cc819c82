import { asObject } from '../../scaler/plain-json.js';
import { isFulfilled } from '../../scaler/label-requirement.js';
import type { LabelRequirement, LabelSelector } from '../../scaler/spec.js';
import { listIn, objectsIn, textIn, textsIn } from '../api/json.js';

type Labels = Readonly<Record<string, string>>;

const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'] satisfies readonly Operator[];

type Operator = LabelRequirement['operator'];

/**
 * Returns the requirements of a metav1.LabelSelector; empty for an empty selector. Null: it is invalid, for example
 * because of an unknown operator, or `In` without values.
 */
export function selectorFromObject(value: unknown): LabelSelector | null {
  const object = asObject(value);
  if (object === null) return null;
  const requirements: LabelRequirement[] = Object.entries(textsIn(object, 'matchLabels')).map(
    ([key, label]) => ({ key, operator: 'In', values: [label] }),
  );
  for (const expression of objectsIn(object, 'matchExpressions')) {
    const requirement = requirementOf(
      textIn(expression, 'key') ?? '',
      textIn(expression, 'operator') ?? '',
      listIn(expression, 'values').filter((entry) => typeof entry === 'string'),
    );
    if (requirement === null) return null;
    requirements.push(requirement);
  }
  return requirements;
}

function requirementOf(key: string, operator: string, values: readonly string[]): LabelRequirement | null {
  if (key === '' || !isOperator(operator)) return null;
  const needsValues = operator === 'In' || operator === 'NotIn';
  return needsValues === values.length > 0 ? { key, operator, values } : null;
}

function isOperator(text: string): text is Operator {
  return OPERATORS.includes(text);
}

const REQUIREMENT =
  /^\s*(?:(!)\s*([\w./-]+)|([\w./-]+)(?:\s*(==|=|!=)(?:\s*([\w.-]+))?|\s*(in|notin)\s*\(([\w.,\s-]*)\))?)\s*(?:,|$)/;

/**
 * Parses a selector string (`app=web,tier in (a, b),!canary`), as in `status.selector` of a `/scale`; empty for an
 * empty string. Null: it is invalid, or has `<` or `>`, which selectors of workloads cannot contain. Source:
 * apimachinery pkg/labels/selector.go, Parse.
 */
export function parseSelector(text: string): LabelSelector | null {
  const requirements: LabelRequirement[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const match = REQUIREMENT.exec(rest);
    if (match === null) return null;
    const requirement = readRequirement(match);
    if (requirement === null) return null;
    requirements.push(requirement);
    const next = rest.slice(match[0].length);
    if (next === '' && match[0].endsWith(',')) return null;
    rest = next;
  }
  return requirements;
}

function readRequirement(match: RegExpExecArray): LabelRequirement | null {
  const [, negation, absent, key, comparison, value, membership, list] = match;
  if (negation !== undefined) return { key: absent ?? '', operator: 'DoesNotExist', values: [] };
  if (key === undefined) return null;
  if (comparison !== undefined)
    return { key, operator: comparison === '!=' ? 'NotIn' : 'In', values: [value ?? ''] };
  if (membership === undefined) return { key, operator: 'Exists', values: [] };
  const values = (list ?? '').split(',').map((entry) => entry.trim());
  return { key, operator: membership === 'in' ? 'In' : 'NotIn', values };
}

/** Returns a selector in the syntax of `kubectl -l`. */
export function formatSelector(selector: LabelSelector): string {
  return selector.map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${key}=${values.join('')}` : `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return operator satisfies never;
  }
}

export function matchesSelector(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) => isFulfilled(requirement, labels[requirement.key]));
}
