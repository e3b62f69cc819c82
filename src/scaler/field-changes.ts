import { isPlainObject, type PlainObject } from './plain-json.js';

export interface FieldChange {
  /** Path of the field, such as `spec.metrics[0].resource.target.averageUtilization`. */
  readonly field: string;
  /** The current value as JSON; null: the field is unset. */
  readonly current: string | null;
  /** The proposed value as JSON. The text `null` unsets the field, as in a merge patch. */
  readonly proposed: string;
}

/** Returns a change as text: `spec.maxReplicas: 20 -> 15`. */
export function changeText({ field, current, proposed }: FieldChange): string {
  return `${field}: ${current ?? '(unset)'} -> ${proposed === 'null' ? '(unset)' : proposed}`;
}

/**
 * The result of a back-test for a change. Times are RFC 3339 strings. `thetaU`: mean share of the demand that was
 * missing, in percent; null: unknown.
 */
interface Evidence {
  readonly changes: readonly FieldChange[];
  readonly thetaU: { readonly current: number; readonly proposed: number } | null;
  readonly from: string;
  readonly to: string;
  readonly at: string;
}

/** Returns one line for each changed field, followed by the risk of the change and the history that was used. */
export function evidenceLines({ changes, thetaU, from, to, at }: Evidence): readonly string[] {
  const percent = (value: number): string => `${value.toFixed(3)} %`;
  return [
    ...changes.map(changeText),
    ...(thetaU === null
      ? []
      : [
          `risk: theta_U (missing pods) ${percent(thetaU.current)} -> ${percent(thetaU.proposed)} in the parts of the history that are used to score the change`,
        ]),
    `evidence: the history from ${from} to ${to}, back-tested at ${at}`,
  ];
}

/** Returns the fields at or below `path` that differ. A list whose number of items differs is one field. */
export function fieldChanges(before: unknown, after: unknown, path: string): readonly FieldChange[] {
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return after.flatMap((item, index) => fieldChanges(before[index], item, `${path}[${index}]`));
  if (isPlainObject(after) && (isPlainObject(before) || before === undefined))
    return keysOf(before, after).flatMap((key) =>
      fieldChanges(before?.[key], after[key], path === '' ? key : `${path}.${key}`),
    );
  const current = before === undefined ? null : JSON.stringify(before);
  return [{ field: path, current, proposed: JSON.stringify(after ?? null) }];
}

/** Returns the JSON merge patch that changes `before` to `after`. It replaces lists as a whole. */
export function mergePatch(before: unknown, after: PlainObject): PlainObject {
  const known = isPlainObject(before) ? before : {};
  const changed = keysOf(known, after).filter((key) => !isSame(known[key], after[key]));
  return Object.fromEntries(
    changed.map((key) => {
      const value = after[key] ?? null;
      return [key, isPlainObject(value) ? mergePatch(known[key], value) : value];
    }),
  );
}

function keysOf(before: PlainObject | undefined, after: PlainObject): readonly string[] {
  return [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
}

export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
