import type { Path } from '../../scaler/problems/finding.js';
import { isPlainObject, valueAt } from '../../scaler/plain-json.js';

export interface Row {
  readonly path: Path;
  /** The value as the document writes it, with its units and unconverted quantities. Null: there is no value. */
  readonly value: unknown;
  /** `document`, `service defaults`, `preset NAME` or `built in`. */
  readonly from: string;
  /** The path of another field that determines the value; null: the field itself does. */
  readonly by: Path | null;
  /** The path of the field that applies instead of this one, which then has no effect. Unset: this field applies. */
  readonly replacedBy?: Path;
  /** When `replacedBy` applies, such as `for scale-ups`. Unset: always. */
  readonly replacedWhen?: string;
  /** Whether the field is unset and must stay so, because setting it to this value would have another effect. */
  readonly isUnset: boolean;
}

/** A document as it was written (`raw`), and together with `defaults` of the service config (`merged`). */
export interface Written {
  readonly raw: unknown;
  readonly merged: unknown;
}

/** Returns where a field is set, `document` or `service defaults`; null: it is unset. */
export function writtenIn({ raw, merged }: Written, path: Path): string | null {
  if (valueAt(merged, path) === undefined) return null;
  return valueAt(raw, path) === undefined ? 'service defaults' : 'document';
}

/** Returns a row with the value in the document. If the field is unset, the row has the resolved value `value`. */
export function rowOf(written: Written, path: Path, value: unknown, from = 'built in'): Row {
  const origin = writtenIn(written, path);
  if (origin === null) return { path, value, from, by: null, isUnset: false };
  return { path, value: valueAt(written.merged, path), from: origin, by: null, isUnset: false };
}

/** Returns a row for a field that is unset and must stay so. */
export function unsetRow(path: Path): Row {
  return { path, value: null, from: 'built in', by: null, isUnset: true };
}

/** Returns a row for a field that has the value of the field `by` unless it is set itself. */
export function rowBy(written: Written, path: Path, row: Pick<Row, 'value' | 'from' | 'by'>): Row {
  return writtenIn(written, path) === null
    ? { path, ...row, isUnset: false }
    : rowOf(written, path, row.value);
}

/** Returns a row for each value below `path`, including values in nested objects and lists of objects. */
export function rowsIn(written: Written, path: Path): readonly Row[] {
  const value = valueAt(written.merged, path);
  if (value === undefined) return [];
  const steps = stepsInto(value);
  return steps.length === 0
    ? [rowOf(written, path, value)]
    : steps.flatMap((step) => rowsIn(written, [...path, step]));
}

function stepsInto(value: unknown): readonly (string | number)[] {
  if (isPlainObject(value)) return Object.keys(value);
  if (!Array.isArray(value)) return [];
  return value.some(isPlainObject) ? Array.from(value.keys()) : [];
}
