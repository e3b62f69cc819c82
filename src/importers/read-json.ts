import { type PlainObject, isPlainObject } from '../scaler/plain-json.js';
import type { Problem } from '../scaler/problems/problem.js';
import { unplacedProblem } from '../scaler/problems/unplaced-problem.js';
import { JsonBoundsError, parseJsonWithin } from '../units/json-bounds.js';
import { elementsOf, valuesOf } from './json-spans.js';
import type { ManifestValue } from './import-objects.js';

const JSON_BOUNDS = { depth: 64, items: 5_000_000 };

export interface ReadJson {
  readonly values: readonly ManifestValue[];
  readonly problems: readonly Problem[];
}

/**
 * Reads one or more JSON values. An invalid value does not affect other values, and an invalid item does not affect
 * other items of its list. Null: the text is not JSON.
 */
export function readJson(text: string, file: string): ReadJson | null {
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
 * Reads the items of a list that is not valid JSON as a whole, because one item is broken or the list is truncated.
 * Null: the text is not a list in the format of kubectl, or has no valid item.
 */
function readList(text: string, file: string): ReadJson | null {
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
