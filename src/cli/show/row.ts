import type { Path } from '../../scaler/problems/finding.js';
import { isPlainObject, valueAt } from '../../scaler/plain-json.js';

/** One field of a document in full. */
export interface Row {
  readonly path: Path;
  /** In the document's own units: quantities as quantities; null: none. */
  readonly value: unknown;
  /** `document`, `service defaults`, `preset NAME` or `built in`. */
  readonly from: string;
  /** The field that settled it, where it is another one. */
  readonly by: Path | null;
  /** Writing the value down would mean something else than leaving it out. */
  readonly isLeftOut: boolean;
}

/** A document as it is written, and with the service config's `defaults` merged in. */
export interface Written {
  readonly raw: unknown;
  readonly merged: unknown;
}

/** Where a field was written: in the document, or in the service config's `defaults`; null: nowhere. */
export function writtenIn({ raw, merged }: Written, path: Path): string | null {
  if (valueAt(merged, path) === undefined) return null;
  return valueAt(raw, path) === undefined ? 'service defaults' : 'document';
}

/** The row of a field: its value as it was written, else the one that it resolves to. */
export function rowOf(
  written: Written,
  path: Path,
  { value, from = 'built in' }: { readonly value: unknown; readonly from?: string },
): Row {
  const place = writtenIn(written, path);
  if (place === null) return { path, value, from, by: null, isLeftOut: false };
  return { path, value: valueAt(written.merged, path), from: place, by: null, isLeftOut: false };
}

/** The row of a field that takes its value from another one unless it is written itself. */
export function rowBy(written: Written, path: Path, row: Pick<Row, 'value' | 'from' | 'by'>): Row {
  return writtenIn(written, path) === null
    ? { path, ...row, isLeftOut: false }
    : rowOf(written, path, { value: row.value });
}

/** A row for each value in what was written at `path`: mappings and lists of mappings are walked through. */
export function rowsIn(written: Written, path: Path): readonly Row[] {
  const value = valueAt(written.merged, path);
  if (value === undefined) return [];
  const steps = stepsInto(value);
  return steps.length === 0
    ? [rowOf(written, path, { value })]
    : steps.flatMap((step) => rowsIn(written, [...path, step]));
}

function stepsInto(value: unknown): readonly (string | number)[] {
  if (isPlainObject(value)) return Object.keys(value);
  if (!Array.isArray(value)) return [];
  return value.some(isPlainObject) ? Array.from(value.keys()) : [];
}
