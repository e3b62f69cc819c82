import * as z from 'zod';
import {
  type Finding,
  finding,
  findTemplate,
  formatPath,
  formatValue,
  MAX_FINDINGS,
  type Path,
} from '../problems/finding.js';
import { didYouMean, nearest, suggest } from '../problems/nearest.js';
import { boundOf, isOfSeconds, numberHint, objectHint, quantityHint, unwrap } from './value-hint.js';
import { isPlainObject, valueAt, without } from '../plain-json.js';
import type { ProblemCode } from '../problems/problem-codes.js';

interface Checked<T> {
  readonly findings: readonly Finding[];
  readonly value: T | null;
  readonly readable: unknown;
}

interface CheckOptions {
  /** Formats a value for a message. It may redact secrets. */
  readonly show?: (value: unknown, path: Path) => string;
  /** Hints about fields that belong to other kinds of documents, by path. */
  readonly hints?: ReadonlyMap<string, string>;
  /** The same value, but including the fields that are null. Default: `value`. */
  readonly withNulls?: unknown;
}

/**
 * Checks a plain value against a schema. `readable` is the value without the invalid parts. Rules across fields must be
 * checked on `readable`: Zod skips the refinements of an object with type errors.
 */
export function checkSchema<T>(
  schema: z.ZodType<T>,
  value: unknown,
  { show = formatValue, hints = FOREIGN_FIELDS, withNulls = value }: CheckOptions = {},
): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) return { findings: [], value: result.data, readable: result.data };
  const findings: Finding[] = [];
  let readable = value;
  for (const issue of result.error.issues) {
    if (isOfIntegers(issue) && result.error.issues.some((other) => isNarrower(other, issue))) continue;
    // Stops early, because each issue copies the value, and there may be hundreds of thousands of issues.
    if (findings.length > MAX_FINDINGS) return { findings, value: null, readable: undefined };
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const parent = emptyParent(schemaAt(schema, path), valueAt(withNulls, path), key);
        const indent = parent === null ? null : `; indent it under ${parent}:, which is empty`;
        const specific = indent ?? hints.get(formatPath([...path, key])) ?? MISPLACED_FIELDS.get(key);
        findings.push(unknownField(schema, [...path, key], { specific, value }));
      }
      for (const key of issue.keys) readable = without(readable, [...path, key]);
    } else {
      const shown = { value: valueAt(value, path), field: schemaAt(schema, path), show };
      findings.push(withTemplate(issueFinding(issue, path, shown), shown));
      readable = without(readable, path);
    }
  }
  const isMeant = new Set(findings.flatMap(({ meant }) => (meant === undefined ? [] : [formatPath(meant)])));
  const isCause = ({ code, path }: Finding): boolean =>
    code !== 'missing-field' || !isMeant.has(formatPath(path));
  return { findings: findings.filter(isCause), value: null, readable };
}

/**
 * Returns whether an issue is about the bounds of safe integers. Zod reports such an issue in addition to the bounds of
 * the field.
 */
function isOfIntegers(issue: z.core.$ZodIssue): boolean {
  return Math.abs(boundOf(issue) ?? 0) === Number.MAX_SAFE_INTEGER;
}

function isNarrower(issue: z.core.$ZodIssue, than: z.core.$ZodIssue): boolean {
  const isSame =
    issue.path.length === than.path.length && issue.path.every((step, i) => step === than.path[i]);
  const bound = boundOf(issue);
  return isSame && issue.code === than.code && bound !== null && !isOfIntegers(issue);
}

/** Fields of a KEDA ScaledObject that have other names in promscaler. */
const KEDA_FIELDS = [
  [
    'spec.triggers',
    '; write the trigger prometheus as a metric: metrics: [{ external: { query: QUERY, target: { averageValue: THRESHOLD } } }]',
  ],
  ['spec.cooldownPeriod', '; use cooldownSeconds'],
  ['spec.pollingInterval', '; use syncPeriodSeconds'],
  ['spec.advanced', '; behavior is a field of spec'],
] as const;

const FOREIGN_FIELDS: ReadonlyMap<string, string> = new Map([
  [
    'kind',
    '; this file is a scaler document: name the file or its directory in scalers.paths of the service config',
  ],
  [
    'spec.targetCPUUtilizationPercentage',
    '; write it as a metric: metrics: [{ resource: { name: cpu, target: { averageUtilization: 80 } } }]',
  ],
  ...KEDA_FIELDS,
]);

const MISPLACED_FIELDS: ReadonlyMap<string, string> = new Map([
  [
    'activation',
    '; only object and external metrics have this field, because other metrics have no value without pods',
  ],
]);

/**
 * Returns the empty field that was probably meant to contain `key`, but has the same indentation; null: there is none.
 */
function emptyParent(schema: z.core.$ZodType | undefined, value: unknown, key: string): string | null {
  if (!(schema instanceof z.ZodObject) || !isPlainObject(value)) return null;
  const parent = Object.entries(value).find(
    ([name, child]) => child === null && knownKeys(schema, [name]).includes(key),
  );
  return parent?.[0] ?? null;
}

/**
 * If more than this number of objects have the field, as with `name`, there is no hint, because a long list would not
 * show where the field belongs.
 */
const MOST_PARENTS = 3;

/** Returns a hint that names the objects of the schema with this field; empty: there are none, or too many. */
function misplaced(schema: z.core.$ZodType, key: string): string {
  const parents = parentsOf(schema, key, '');
  const isTold = parents.length > 0 && parents.length <= MOST_PARENTS;
  return isTold ? `; the field belongs in ${parents.join(', ')}` : '';
}

/** Returns the paths of the objects with this field, such as `spec.metrics[].external`. */
function parentsOf(schema: z.core.$ZodType | undefined, key: string, path: string): readonly string[] {
  const current = unwrap(schema);
  if (current instanceof z.ZodArray) return parentsOf(current.element, key, `${path}[]`);
  if (!(current instanceof z.ZodObject)) return [];
  const fields = Object.entries<z.core.$ZodType>(current.shape);
  const own = fields.some(([name]) => name === key) ? [path === '' ? 'the document' : path] : [];
  return [
    ...own,
    ...fields.flatMap(([name, field]) => parentsOf(field, key, path === '' ? name : `${path}.${name}`)),
  ];
}

function unknownField(
  schema: z.core.$ZodType,
  path: Path,
  { specific, value }: { readonly specific: string | undefined; readonly value: unknown },
): Finding {
  const key = String(path.at(-1));
  const parent = path.slice(0, -1);
  const isMerge = key === '<<';
  const name = isMerge ? null : nearest(key, knownKeys(schema, parent));
  const guess = isMerge ? '; merge keys are not supported' : suggest(name);
  const hint = specific ?? (guess === '' ? misplaced(schema, key) : guess);
  const found: Finding = {
    code: 'unknown-field',
    message: `${formatPath(path)} is not a known field${hint}`,
    path,
    at: 'key',
    offset: null,
  };
  if (specific !== undefined || name === null) return found;
  const meant = [...parent, name];
  return valueAt(value, meant) === undefined ? { ...found, meant } : found;
}

interface ShownValue {
  readonly value: unknown;
  readonly field: z.core.$ZodType | undefined;
  readonly show: (value: unknown, path: Path) => string;
}

function withTemplate(found: Finding, { value, show }: ShownValue): Finding {
  // Applies only to a value that `show` does not redact: the message about a template quotes the value, which may be a
  // secret.
  const template =
    typeof value === 'string' && show(value, found.path) === formatValue(value) ? findTemplate(value) : null;
  return template === null ? found : { ...found, message: `${formatPath(found.path)}: ${template.message}` };
}

function issueFinding(issue: z.core.$ZodIssue, path: Path, { value, field, show }: ShownValue): Finding {
  const name = path.length === 0 ? 'the document' : formatPath(path);
  if (value === undefined) {
    const hint = name === 'metadata.namespace' ? NAMESPACE_HINT : '';
    return finding('missing-field', path, `${name} is missing${hint}`);
  }
  const shown = `${name} is ${show(value, path)}`;
  switch (issue.code) {
    case 'invalid_type': {
      const expected = field instanceof z.ZodNumberFormat ? 'int' : issue.expected;
      const unit = expected === 'int' && isOfSeconds(path) ? ' number of seconds' : '';
      // Applies only to a value that `show` does not redact: a hint quotes the value, which may be a secret.
      const hint = show(value, path) === formatValue(value) ? typeHint(value, path, { expected, field }) : '';
      const rule = `${TYPE_NAMES[expected] ?? expected}${unit}${hint}`;
      return finding('wrong-type', path, `${shown}, must be ${rule}`);
    }
    case 'invalid_value': {
      const values = issue.values.map(String);
      const near = typeof value === 'string' ? didYouMean(value, values) : '';
      const hint = quotedHint(value, issue.values) || near;
      const rule = values.length === 1 ? (values[0] ?? '') : `one of ${values.join(', ')}`;
      return finding('wrong-value', path, `${shown}, must be ${rule}${hint}`);
    }
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') {
        return finding('out-of-range', path, `${name} must not be empty`);
      }
      return finding('out-of-range', path, `${shown}, must be at least ${String(issue.minimum)}`);
    case 'too_big':
      if (issue.origin === 'string') {
        return finding('out-of-range', path, `${name} must have at most ${String(issue.maximum)} characters`);
      }
      if (issue.origin === 'array') {
        const has = Array.isArray(value) ? `has ${value.length} entries, ` : '';
        return finding('out-of-range', path, `${name} ${has}must have at most ${String(issue.maximum)}`);
      }
      return finding('out-of-range', path, `${shown}, must be at most ${String(issue.maximum)}`);
    case 'invalid_format':
      return finding('wrong-format', path, `${shown}, ${issue.message}`);
    case 'invalid_key':
      return { ...finding('wrong-format', path, `${name}: this key ${keyRule(issue)}`), at: 'key' };
    case 'invalid_union':
      return finding('wrong-quantity', path, `${shown}, ${issue.message}`);
    case 'custom': {
      const code = customCode(issue);
      const hint = code === 'wrong-quantity' ? quantityHint(value, path) : '';
      // A hint about this value replaces the general example.
      const rule = hint === '' ? issue.message : issue.message.replace(/, such as .*$/, '');
      return finding(code, path, `${shown}, ${rule}${hint}`);
    }
    default:
      return finding('wrong-type', path, `${shown}: ${issue.message}`);
  }
}

const NAMESPACE_HINT = '; if kubectl apply -n sets it, use promscaler validate -n';

/** Returns a hint if the value is "true" or "false" in quotes, and the field allows the boolean. */
function quotedHint(value: unknown, allowed: readonly unknown[]): string {
  const isQuoted = allowed.some((word) => typeof word === 'boolean' && String(word) === value);
  return isQuoted ? ': remove the quotes' : '';
}

function typeHint(
  value: unknown,
  path: Path,
  { expected, field }: { readonly expected: string; readonly field: z.core.$ZodType | undefined },
): string {
  if (expected === 'boolean') return quotedHint(value, [true, false]);
  if (expected === 'object') return objectHint(value, path, field);
  return expected === 'int' || expected === 'number' ? numberHint(value, path, field) : '';
}

function keyRule(issue: z.core.$ZodIssueInvalidKey): string {
  return issue.issues[0]?.message ?? 'is not allowed';
}

/** Returns `params.code` of a refinement if it sets one, otherwise `wrong-quantity`. */
function customCode(issue: z.core.$ZodIssueCustom): ProblemCode {
  const code: unknown = issue.params?.['code'];
  return code === 'wrong-url' ? code : 'wrong-quantity';
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'an integer',
  number: 'a number',
  string: 'a string (in quotes if it looks like another type)',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** Returns the field names of the schema at `path`; empty: any field name is allowed. */
function knownKeys(schema: z.core.$ZodType, path: Path): readonly string[] {
  const found = schemaAt(schema, path);
  return found instanceof z.ZodObject && isPlainObject(found.shape) ? Object.keys(found.shape) : [];
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | undefined {
  let current: z.core.$ZodType | undefined = unwrap(schema);
  for (const step of path) {
    if (current instanceof z.ZodObject) {
      const shape: Readonly<Record<string, z.core.$ZodType>> = current.shape;
      current = unwrap(shape[String(step)]);
    } else if (current instanceof z.ZodArray) current = unwrap(current.element);
    else if (current instanceof z.ZodRecord) current = unwrap(current.valueType);
    else return undefined;
  }
  return current;
}
