import { isPlainObject } from '../../scaler/plain-json.js';
import type { Path } from '../../scaler/problems/finding.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';
import { type Draft, type DraftItem, ITEM_LISTS, isCommentedOut, type Remark } from './draft.js';
import { type Comments, commentLines, placeComments } from './comments.js';

export function documentOf(draft: Draft): unknown {
  return build(draft, (items) => items.filter(({ isOff }) => !isOff));
}

function build(draft: Draft, select: (items: readonly DraftItem[]) => readonly DraftItem[]): unknown {
  const lists = ITEM_LISTS.map((list) => [list, select(draft[list]).map(({ value }) => value)] as const);
  const members = { ...draft.spec, ...Object.fromEntries(lists.filter(([, items]) => items.length > 0)) };
  const spec = Object.fromEntries(Object.entries(members).sort(([a], [b]) => rankOf(a) - rankOf(b)));
  return { apiVersion: API_VERSION, kind: 'Scaler', metadata: draft.metadata, spec };
}

/** The first fields of `spec`, in their order. Other fields follow in the order in which they were read. */
const ORDER = [
  'paused',
  'dryRun',
  'preset',
  'scaleTargetRef',
  'minReplicas',
  'maxReplicas',
  'metrics',
  'schedules',
];

function rankOf(field: string): number {
  const rank = ORDER.indexOf(field);
  return rank < 0 ? ORDER.length : rank;
}

interface Writing {
  readonly comments: Comments;
  readonly isOff: (path: Path) => boolean;
}

/** Writes a draft as YAML, with its remarks as comments. `header`: the first comment. */
export function writeDocument(draft: Draft, remarks: readonly Remark[], header: string): string {
  const all = build(draft, (items) => items);
  const writing: Writing = {
    comments: placeComments(remarks, all),
    isOff: (path) => isOffAt(draft, path),
  };
  const lines = [
    ...commentLines(header, 0),
    ...writing.comments.atEnd([]).flatMap((text) => commentLines(text, 0)),
    ...objectLines(all, { path: [], indent: 0 }, writing),
  ];
  return `${lines.join('\n')}\n`;
}

function isOffAt(draft: Draft, [root, list, index]: Path): boolean {
  const name = ITEM_LISTS.find((one) => one === list);
  if (root !== 'spec' || name === undefined) return false;
  const items = draft[name];
  if (typeof index !== 'number') return items.every(isCommentedOut);
  const item = items[index];
  return item !== undefined && isCommentedOut(item);
}

interface At {
  readonly path: Path;
  readonly indent: number;
}

function objectLines(value: unknown, { path, indent }: At, writing: Writing): readonly string[] {
  const members = isPlainObject(value) ? Object.entries(value) : [];
  const lines = members.flatMap(([key, member]) => {
    const childPath = [...path, key];
    const before = writing.comments.before(childPath).flatMap((text) => commentLines(text, indent));
    const isOff = childPath.length === 2 && writing.isOff(childPath);
    return [
      ...before,
      ...fieldLines(key, member, { path: childPath, indent }, { ...writing, isHidden: isOff }),
    ];
  });
  return path.length === 0 ? lines : [...lines, ...endComments(path, indent, writing)];
}

function endComments(path: Path, indent: number, { comments }: Writing): readonly string[] {
  return comments.atEnd(path).flatMap((text) => commentLines(text, indent));
}

function fieldLines(
  key: string,
  value: unknown,
  { path, indent }: At,
  writing: Writing & { readonly isHidden: boolean },
): readonly string[] {
  const start = `${' '.repeat(indent)}${writing.isHidden ? '# ' : ''}${scalar(key)}:`;
  if (Array.isArray(value) && value.length > 0)
    return [start, ...listLines(value, { path, indent: indent + 2 }, writing)];
  if (isPlainObject(value) && Object.keys(value).length > 0)
    return [start, ...objectLines(value, { path, indent: indent + 2 }, writing)];
  const block = blockLines(value);
  if (block !== null) return [`${start} ${block[0] ?? ''}`, ...indented(block.slice(1), indent + 2)];
  return [`${start} ${scalar(value)}`, ...endComments(path, indent, writing)];
}

function listLines(items: readonly unknown[], { path, indent }: At, writing: Writing): readonly string[] {
  const lines = items.flatMap((item, index) => {
    const childPath = [...path, index];
    const before = writing.comments.before(childPath).flatMap((text) => commentLines(text, indent));
    const body = itemLines(item, { path: childPath, indent }, writing);
    return [
      ...before,
      ...(writing.isOff(childPath) && path.length === 2 ? commentedOut(body, indent) : body),
    ];
  });
  return [...lines, ...endComments(path, indent, writing)];
}

function itemLines(item: unknown, { path, indent }: At, writing: Writing): readonly string[] {
  const dash = `${' '.repeat(indent)}- `;
  if (!isPlainObject(item) || Object.keys(item).length === 0) return [`${dash}${scalar(item)}`];
  const lines = objectLines(item, { path, indent: indent + 2 }, writing);
  const first = lines.findIndex((line) => !line.trimStart().startsWith('#'));
  return lines.map((line, index) => (index === first ? `${dash}${line.slice(indent + 2)}` : line));
}

function indented(lines: readonly string[], indent: number): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`));
}

function commentedOut(lines: readonly string[], indent: number): readonly string[] {
  return lines.map((line) => `${' '.repeat(indent)}# ${line.slice(indent)}`.trimEnd());
}

/** Strings that need no quotes in YAML: no special character at the start, no `: ` and no ` #`. */
const PLAIN = /^[A-Za-z_/(][\x20-\x7e]*$/;
const UNSAFE_IN_PLAIN = /: |:$| #|\s$/;

/** Words that YAML 1.1 or 1.2 does not read as strings unless they are quoted. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A quantity with a suffix, which needs no quotes: it starts with a digit, but is not a number. */
const QUANTITY = /^\d+(?:\.\d+)?(?:m|k|M|G|T|P|[KMGTPE]i)$/;

/** Strings that a block scalar can represent: no line may start or end with a space. */
const BLOCK = /^[\x21-\x7e][\x20-\x7e]*(?:\n[\x20-\x7e]*)*$/;

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (QUANTITY.test(value) || (PLAIN.test(value) && !UNSAFE_IN_PLAIN.test(value) && !WORDS.test(value)))
    return value;
  return /^[\x20-\x7e]*$/.test(value) ? `'${value.replaceAll("'", "''")}'` : escaped(value);
}

/**
 * Returns header and lines of a block scalar for a string of several lines; null: the string cannot be a block scalar.
 */
function blockLines(value: unknown): readonly string[] | null {
  if (typeof value !== 'string' || !value.includes('\n')) return null;
  const end = value.endsWith('\n') ? 1 : 0;
  const text = value.slice(0, value.length - end);
  if (text.endsWith('\n') || !BLOCK.test(text) || / $| \n/.test(text)) return null;
  return [end === 0 ? '|-' : '|', ...text.split('\n')];
}

/** Returns a string as JSON, which is valid YAML. Characters that YAML cannot contain are escaped. */
function escaped(value: string): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
