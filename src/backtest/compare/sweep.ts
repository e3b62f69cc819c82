import { isPlainObject, type PlainObject } from '../../scaler/plain-json.js';
import { parseScaler } from '../../scaler/read/parse-scaler.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Variant } from './variant.js';

export interface Sweep {
  /** The end of a path in `spec`, such as `averageUtilization` or `scaleDown.stabilizationWindowSeconds`. */
  readonly field: string;
  readonly values: readonly (string | number | boolean)[];
}

const MAX_VALUES = 100;
const MAX_VARIANTS = 400;

/** Parses `FIELD=VALUE,VALUE`. If the text is invalid, returns the reason as a string. */
export function parseSweep(text: string): Sweep | string {
  const match = /^\s*([A-Za-z][A-Za-z0-9.[\]]{0,200})\s*=(.*)$/.exec(text);
  if (match === null) return 'must be FIELD=VALUE,VALUE, such as averageUtilization=50,60,70';
  const [, field = '', list = ''] = match;
  const values = list.split(',').map((value) => value.trim());
  if (values.some((value) => value === '')) return `a value of ${field} is empty`;
  if (values.length > MAX_VALUES)
    return `${field} has ${values.length} values, must have at most ${MAX_VALUES}`;
  return { field, values: [...new Set(values)].map(plainValue) };
}

function plainValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?$/.test(text) ? Number(text) : text;
}

/** Returns a variant for each combination of values, in the order of the sweeps; or the reason why there are none. */
export function sweepVariants(
  scaler: Scaler,
  sweeps: readonly Sweep[],
): { readonly variants: readonly Variant[] } | { readonly error: string } {
  const combinations = combine(sweeps);
  if (combinations.length > MAX_VARIANTS)
    return {
      error: `the values have ${combinations.length} combinations, must have at most ${MAX_VARIANTS}`,
    };
  const variants: Variant[] = [];
  for (const combination of combinations) {
    const variant = changedVariant(scaler, combination);
    if ('error' in variant) return variant;
    variants.push(variant);
  }
  return { variants };
}

export interface Assignment {
  readonly field: string;
  readonly value: string | number | boolean | readonly Policy[];
}

interface Policy {
  readonly type: string;
  readonly value: number;
  readonly periodSeconds: number;
}

function combine(sweeps: readonly Sweep[]): readonly (readonly Assignment[])[] {
  return sweeps.reduce<readonly (readonly Assignment[])[]>(
    (combinations, { field, values }) =>
      combinations.length > MAX_VARIANTS
        ? combinations
        : combinations.flatMap((before) => values.map((value) => [...before, { field, value }])),
    [[]],
  );
}

/**
 * Returns the document with the given values as a variant, whose name lists the changes. Returns an error if the
 * changed document is invalid.
 */
export function changedVariant(
  scaler: Scaler,
  assignments: readonly Assignment[],
): Variant | { readonly error: string } {
  let spec: PlainObject = scaler.document.spec;
  for (const { field, value } of assignments) {
    const path = findField(spec, field);
    if (typeof path === 'string') return { error: path };
    if (!reaches(spec, path)) return { error: `${field}: the document has no such item` };
    spec = withValue(spec, path, value) as PlainObject;
  }
  const name = assignments.map(assignmentText).join(' ');
  const { scaler: changed, problems } = parseScaler({ ...scaler.document, spec });
  const problem = problems.find(({ severity }) => severity === 'error');
  if (changed === null || problem !== undefined) {
    const missing = assignments.find(({ field }) => !hasField(scaler.document.spec, field));
    const hint =
      missing === undefined
        ? ''
        : `; the document does not contain ${missing.field}: add the field, or pass its whole path below spec`;
    return { error: `${name}: ${problem?.message ?? 'the document is invalid'}${hint}` };
  }
  return { name, scaler: changed };
}

export function assignmentText({ field, value }: Assignment): string {
  return `${field}=${typeof value === 'object' ? JSON.stringify(value) : value}`;
}

type Path = readonly (string | number)[];

/**
 * Returns the path of the only field whose path ends with `field`. If there is none, returns the path of a new field in
 * `spec`. If there are several, returns an error.
 */
function findField(spec: PlainObject, field: string): Path | string {
  const wanted = stepsOf(field);
  const found = allPaths(spec).filter((path) => endsWith(path, wanted));
  const [first, second] = found;
  if (first !== undefined && second !== undefined)
    return `${field} is ambiguous: ${found.slice(0, 3).map(pathText).join(' or ')}`;
  return first ?? wanted.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function hasField(spec: PlainObject, field: string): boolean {
  return allPaths(spec).some((path) => endsWith(path, stepsOf(field)));
}

function stepsOf(field: string): readonly string[] {
  return field
    .replace(/^spec\./, '')
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.');
}

function allPaths(value: unknown, prefix: Path = []): readonly Path[] {
  const members: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? (value as readonly unknown[]).map((item, index) => [index, item] as const)
    : isPlainObject(value)
      ? Object.entries(value)
      : [];
  return members.flatMap(([step, inner]) => [[...prefix, step], ...allPaths(inner, [...prefix, step])]);
}

function endsWith(path: Path, end: readonly string[]): boolean {
  return (
    path.length >= end.length && end.every((step, index) => String(path.at(index - end.length)) === step)
  );
}

function pathText(path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step}`),
    'spec',
  );
}

/** Returns whether the path is possible in the value: each list on the path has an item at the given index. */
function reaches(value: unknown, [step, ...rest]: Path): boolean {
  if (step === undefined) return true;
  if (Array.isArray(value))
    return typeof step === 'number' && step < value.length && reaches(value[step], rest);
  return reaches(isPlainObject(value) ? value[String(step)] : undefined, rest);
}

function withValue(value: unknown, path: Path, leaf: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return leaf;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? withValue(item, rest, leaf) : item));
  const members = isPlainObject(value) ? value : {};
  return { ...members, [step]: withValue(members[step], rest, leaf) };
}
