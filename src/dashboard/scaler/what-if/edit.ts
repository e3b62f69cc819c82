import { isPlainObject, valueAt } from '../../../scaler/plain-json.js';

/** The keys and list indexes from the root of a document to a field. */
export type Path = readonly (string | number)[];

/**
 * Returns a copy of a document with another value at `path`. If the value is undefined, the field is removed, and so
 * are objects and lists that become empty.
 */
export function withValue(document: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: readonly unknown[] = Array.isArray(document) ? document : [];
    const next = withValue(list[step], rest, value);
    const others = list.map((item, index) => (index === step ? undefined : item));
    if (!isGone(next, value)) others[Math.min(step, list.length)] = next;
    return others.filter((item) => item !== undefined);
  }
  const object = isPlainObject(document) ? document : {};
  const next = withValue(Object.hasOwn(object, step) ? object[step] : undefined, rest, value);
  const members = Object.hasOwn(object, step)
    ? Object.entries(object).map(([key, member]): [string, unknown] => [key, key === step ? next : member])
    : [...Object.entries(object), [step, next] as const];
  return Object.fromEntries(members.filter(([key, member]) => key !== step || !isGone(member, value)));
}

function isGone(next: unknown, value: unknown): boolean {
  if (next === undefined) return true;
  if (value !== undefined) return false;
  return Array.isArray(next) ? next.length === 0 : isPlainObject(next) && Object.keys(next).length === 0;
}

/** Returns the value for the text of an input: undefined for an empty one, a number in YAML syntax, or a string. */
export function readInput(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Returns the text that an input shows for a field; empty: the field is unset. */
export function textAt(document: unknown, path: Path): string {
  const value = valueAt(document, path);
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
