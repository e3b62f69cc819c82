import { Document, isNode } from 'yaml';
import { type Path, formatPath } from '../../scaler/problems/finding.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import type { Row } from './row.js';

/** Maximum width of values: a long query must not push the origin off the screen. */
const WIDEST_VALUE = 40;

/** Returns aligned lines `path  value  # origin`, without a final newline. */
export function rowsAsText(rows: readonly Row[]): string {
  const cells = rows.map((row) => ({
    path: formatPath(row.path),
    value: formatCell(row.value),
    origin: formatOrigin(row),
  }));
  const pathWidth = Math.max(...cells.map(({ path }) => path.length));
  const widths = cells.map(({ value }) => value.length).filter((length) => length <= WIDEST_VALUE);
  const valueWidth = Math.max(0, ...widths);
  return cells
    .map(({ path, value, origin }) => `${path.padEnd(pathWidth)}  ${value.padEnd(valueWidth)}  # ${origin}`)
    .join('\n');
}

/** Returns YAML with the origin as a comment after each value. Parsing it gives the same spec. */
export function rowsAsYaml(rows: readonly Row[]): string {
  const tree = rows.reduce<unknown>(
    (rest, row) => placed(rest, row.path, row.isUnset ? null : row.value),
    undefined,
  );
  const document = new Document(tree, { aliasDuplicateObjects: false });
  for (const row of rows) {
    const node = document.getIn(row.path, true);
    const shown = row.isUnset && row.value !== null ? `${formatCell(row.value)}, ` : '';
    if (isNode(node)) node.comment = ` ${shown}${formatOrigin(row)}`;
  }
  return document.toString({ lineWidth: 0 });
}

export function rowsAsJson(rows: readonly Row[]): readonly unknown[] {
  return rows.map(({ path, value, from, by }) => ({
    path: formatPath(path),
    value,
    from,
    ...(by === null ? {} : { by: formatPath(by) }),
  }));
}

function formatOrigin({ from, by }: Row): string {
  return by === null ? from : `${from}, by ${formatPath(by)}`;
}

function formatCell(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'string' && /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u.test(value)) return value;
  return JSON.stringify(value).replace(/\p{C}/gu, '\ufffd');
}

function placed(tree: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: readonly unknown[] = Array.isArray(tree) ? tree : [];
    const item = placed(list[step], rest, value);
    return step < list.length ? list.map((old, index) => (index === step ? item : old)) : [...list, item];
  }
  const object = isPlainObject(tree) ? tree : {};
  return { ...object, [step]: placed(object[step], rest, value) };
}
