import { isPlainObject, type PlainObject } from '../scaler/plain-json.js';
import type { Problem } from '../scaler/problems/problem.js';
import { unplacedProblem } from '../scaler/problems/finding.js';
import { JsonBoundsError, parseJsonWithin } from '../units/json-bounds.js';
import type { ManifestValue } from './import-objects.js';

const JSON_BOUNDS = { depth: 64, items: 5_000_000 };

export interface ReadValues {
  readonly values: readonly ManifestValue[];
  readonly problems: readonly Problem[];
}

/**
 * Reads one or more JSON values; null: the text is not JSON. Invalid values and list items do not affect the other
 * values.
 */
export function readJson(text: string, file: string): ReadValues | null {
  const values: ManifestValue[] = [];
  const problems: Problem[] = [];
  for (const span of valuesOf(text)) {
    const part = text.slice(span.from, span.to);
    const read = parse(part);
    if (!(read instanceof Error)) {
      values.push({ file, value: read.value });
      continue;
    }
    const list = read instanceof SyntaxError ? readList(part, file) : null;
    if (list === null && read instanceof SyntaxError && values.length === 0) return null;
    values.push(...(list?.values ?? []));
    problems.push(...(list?.problems ?? [problemOf(read, file)]));
  }
  return { values, problems };
}

function parse(text: string): { readonly value: unknown } | Error {
  try {
    return { value: parseJsonWithin(text, JSON_BOUNDS) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonBoundsError) return error;
    throw error;
  }
}

function problemOf(error: Error, file: string, prefix = ''): Problem {
  const code = error instanceof SyntaxError ? 'yaml-syntax' : 'yaml-size';
  return unplacedProblem({ code, message: `${prefix}not JSON: ${error.message}` }, file);
}

const ITEMS = /^\s*\{(?:\s*"(?:apiVersion|kind)"\s*:\s*"[^"\\]{0,200}"\s*,)*\s*"items"\s*:\s*\[/;
const KIND = /"kind"\s*:\s*"([^"\\]{0,200})"/;
const VERSION = /"apiVersion"\s*:\s*"([^"\\]{0,200})"/;

/**
 * Reads the items of a list that is not valid JSON as a whole, because an item is invalid or the list is truncated.
 * Null: the text is not a list in the format of kubectl, or has no valid item.
 */
function readList(text: string, file: string): ReadValues | null {
  const start = ITEMS.exec(text)?.[0];
  if (start === undefined) return null;
  const { spans, end } = elementsOf(text, start.length);
  const outside = `${start}${end === null ? '' : text.slice(end)}`;
  const list: PlainObject = {
    apiVersion: VERSION.exec(outside)?.[1] ?? 'v1',
    kind: KIND.exec(outside)?.[1] ?? 'List',
  };
  const items = spans.map((span) => parse(text.slice(span.from, span.to)));
  const values = items.flatMap((item, index) =>
    item instanceof Error ? [] : [{ file, value: { ...list, items: [item.value] }, firstItem: index }],
  );
  if (values.every(({ value }) => !isPlainObject(value.items[0]))) return null;
  const broken = items.flatMap((item, index) =>
    item instanceof Error ? [problemOf(item, file, `items[${index}]: `)] : [],
  );
  const message = `the list is truncated after items[${spans.length - 1}]`;
  const truncated = end === null ? [unplacedProblem({ code: 'yaml-syntax', message }, file)] : [];
  return { values, problems: [...broken, ...truncated] };
}

interface JsonSpan {
  readonly from: number;
  readonly to: number;
}

/** Returns where each of several JSON values starts and ends, as in the output of `jq '.items[]'`. */
function valuesOf(text: string): readonly JsonSpan[] {
  const spans: JsonSpan[] = [];
  let from = 0;
  for (const { at, depth, mark } of bracketsOf(text, 0)) {
    if (depth > 0 || mark === ',') continue;
    spans.push({ from, to: at + 1 });
    from = at + 1;
  }
  return text.slice(from).trim() === '' ? spans : [...spans, { from, to: text.length }];
}

interface Elements {
  readonly spans: readonly JsonSpan[];
  /** Position of the end of the array; null: the text ends before it. */
  readonly end: number | null;
}

/** Returns where each element of an array starts and ends. `from`: the position after the opening bracket. */
function elementsOf(text: string, from: number): Elements {
  const spans: JsonSpan[] = [];
  let start = from;
  const add = (to: number): void => {
    if (text.slice(start, to).trim() !== '') spans.push({ from: start, to });
    start = to + 1;
  };
  for (const { at, depth, mark } of bracketsOf(text, from)) {
    if (depth < 0) {
      add(at);
      return { spans, end: at };
    }
    if (depth === 0 && mark === ',') add(at);
  }
  add(text.length);
  return { spans, end: null };
}

interface Mark {
  readonly at: number;
  readonly mark: string;
  /** The number of brackets that are open after this position. */
  readonly depth: number;
}

const MARKS = /["{}[\],]/g;
const END_OF_STRING = /(?:[^"\\]|\\[\s\S])*"/y;

/** Yields the brackets outside of strings, and the commas between elements at depth 0. */
function* bracketsOf(text: string, from: number): Generator<Mark> {
  let depth = 0;
  let next = from;
  for (;;) {
    MARKS.lastIndex = next;
    const found = MARKS.exec(text);
    if (found === null) return;
    const [mark] = found;
    next = found.index + 1;
    if (mark === '"') {
      END_OF_STRING.lastIndex = next;
      next = END_OF_STRING.test(text) ? END_OF_STRING.lastIndex : text.length;
      continue;
    }
    if (mark === '{' || mark === '[') depth += 1;
    else if (mark !== ',') depth -= 1;
    else if (depth !== 0) continue;
    yield { at: found.index, mark, depth };
    depth = Math.max(0, depth);
  }
}
