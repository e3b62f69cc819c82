import { isPlainObject, type PlainObject } from '../scaler/plain-json.js';
import type { Problem } from '../scaler/problems/problem.js';
import { type YamlBounds, readYaml } from '../scaler/yaml/read-yaml.js';
import type { ManifestValue } from './import-objects.js';
import { readJson, type ReadValues } from './read-json.js';

/**
 * Limits of a file. The limit for tokens applies to each object, or to a whole list that is not in the format of
 * kubectl. 500,000 tokens take about 250 MB.
 */
export const IMPORT_BOUNDS: YamlBounds = { bytes: 64 * 1024 * 1024, tokens: 500_000 };

/** Reads the documents of a file: YAML, or JSON values. An invalid document does not affect the others. */
export function readManifests(text: string, file: string): ReadValues {
  return (/^\s*[{[]/.test(text) ? readJson(text, file) : null) ?? readYamlParts(text, file);
}

/** Parses each document separately, so that a document that exceeds a limit does not affect the others. */
function readYamlParts(text: string, file: string): ReadValues {
  const values: ManifestValue[] = [];
  const problems: Problem[] = [];
  for (const { part, line } of yamlParts(text)) {
    for (const { text: one, line: from, valueOf, firstItem } of listItems(part) ?? [whole(part)]) {
      for (const document of readYaml(one, file, IMPORT_BOUNDS)) {
        problems.push(...document.problems.map((problem) => moved(problem, line + from)));
        if (document.value !== undefined) values.push({ file, value: valueOf(document.value), firstItem });
      }
    }
  }
  return { values, problems };
}

interface Part {
  readonly text: string;
  /** Number of lines before the part. */
  readonly line: number;
  readonly valueOf: (value: unknown) => unknown;
  /** Index of the first item of the part in the list. */
  readonly firstItem: number;
}

function whole(text: string): Part {
  return { text, line: 0, valueOf: (value) => value, firstItem: 0 };
}

const ITEMS = /^items:[ \t]*\r?\n(?=- )/m;
/** Matches what follows the items: in the block style of kubectl, only keys of the list itself are not indented. */
const AFTER_ITEMS = /^[^-\s#]/m;

/**
 * Divides a list in the format of `kubectl get -o yaml` into its items; null: the text is not such a list. `kubectl get
 * -A` prints all objects of a cluster as one list: parsing it as a whole takes much memory, and an invalid item would
 * make all items invalid.
 */
function listItems(text: string): readonly Part[] | null {
  const found = ITEMS.exec(text);
  if (found === null) return null;
  const start = found.index + found[0].length;
  const rest = AFTER_ITEMS.exec(text.slice(start));
  const end = rest === null ? text.length : start + rest.index;
  const [list, second] = readYaml(`${text.slice(0, found.index)}${text.slice(end)}`, null);
  const value = list?.problems.length === 0 && second === undefined ? list.value : undefined;
  if (!isPlainObject(value) || !isList(value)) return null;
  const valueOf = (items: unknown): unknown => ({ kind: 'List', ...value, items });
  let line = text.slice(0, start).split('\n').length - 1;
  return text
    .slice(start, end)
    .split(/^(?=-(?:\s|$))/m)
    .map((item, firstItem) => {
      const from = line;
      line += item.split('\n').length - 1;
      return { text: item, line: from, valueOf, firstItem };
    });
}

/** Divides YAML into documents. A line that starts with `---` always starts a document. */
function yamlParts(text: string): readonly { readonly part: string; readonly line: number }[] {
  let line = 0;
  return text.split(/^(?=---(?:\s|$))/m).map((part) => {
    const from = line;
    line += part.split('\n').length - 1;
    return { part, line: from };
  });
}

function moved(problem: Problem, lines: number): Problem {
  const { place, message } = problem;
  const isTemplate = problem.code === 'key-not-text' || /\{\{/.test(problem.sourceLine ?? '');
  const hint = isTemplate ? '; render a Helm chart first: helm template CHART | promscaler import -' : '';
  return {
    ...problem,
    message: `${message}${hint}`,
    place: place === null ? null : { ...place, line: place.line + lines },
  };
}

/**
 * Returns whether an object is a list. Without a kind, it may be a truncated list, because kubectl prints the kind
 * after the items.
 */
function isList({ apiVersion, kind }: PlainObject): boolean {
  return typeof kind === 'string' ? kind.endsWith('List') : kind === undefined && apiVersion === 'v1';
}
