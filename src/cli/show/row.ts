import type { Path } from '../../scaler/problems/finding.js';
import { isPlainObject, valueAt } from '../../scaler/plain-json.js';

export interface Row {
  readonly path: Path;
  /** The value in the units of the document, with unconverted quantities. Null: no value. */
  readonly value: unknown;
  /** `document`, `service defaults`, `preset NAME` or `built in`. */
  readonly from: string;
  /** The field that determines the value; null: this field. */
  readonly by: Path | null;
  /** The field that applies instead, so that this one has no effect. Unset: this field applies. */
  readonly replacedBy?: Path;
  /** When `replacedBy` applies, such as `for scale-ups`. Unset: always. */
  readonly replacedWhen?: string;
  /** Whether the field must stay unset, because setting it to this value would have another effect. */
  readonly isUnset: boolean;
}

/** The document as written (`raw`), and with `defaults` of the service config (`merged`). */
export interface Written {
  readonly raw: unknown;
  readonly merged: unknown;
}

/** Returns `document` or `service defaults`; null: unset. */
export function writtenIn({ raw, merged }: Written, path: Path): string | null {
  if (valueAt(merged, path) === undefined) return null;
  return valueAt(raw, path) === undefined ? 'service defaults' : 'document';
}

/** Returns a row with the value of the document, otherwise with the resolved value. */
export function rowOf(
  written: Written,
  path: Path,
  { value, from = 'built in' }: { readonly value: unknown; readonly from?: string },
): Row {
  const origin = writtenIn(written, path);
  if (origin === null) return { path, value, from, by: null, isUnset: false };
  return { path, value: valueAt(written.merged, path), from: origin, by: null, isUnset: false };
}

/** Returns a row for a field that inherits its value from the field `by` unless it is set. */
export function rowBy(written: Written, path: Path, row: Pick<Row, 'value' | 'from' | 'by'>): Row {
  return writtenIn(written, path) === null
    ? { path, ...row, isUnset: false }
    : rowOf(written, path, { value: row.value });
}

/** Returns a row for each value below `path`, in objects and lists of objects. */
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
