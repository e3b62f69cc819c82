import { decide } from '../decision/decide.js';
import { decisionToJson } from '../decision/result/write-json.js';
import { SnapshotError, parseSnapshot } from '../decision/snapshot/parse-snapshot.js';
import type { RecordLine } from './record-line.js';
import { isPlainObject } from '../scaler/plain-json.js';

/**
 * `none`: the target could not be read, so there was no decision. `same`: with `wording`, only strings for people
 * differ, and another version wrote them. `invalid`: this version rejects the snapshot.
 */
type Replayed =
  | { readonly kind: 'none' }
  | { readonly kind: 'same'; readonly wording: readonly Difference[] }
  | { readonly kind: 'different'; readonly differences: readonly Difference[] }
  | { readonly kind: 'invalid'; readonly error: string };

/** Repeats the decision on a recorded snapshot and compares the result with the recorded decision. */
export function replayLine(line: RecordLine, version: string): Replayed {
  if (line.snapshot === null) return { kind: 'none' };
  try {
    const decision = decisionToJson(decide(parseSnapshot(line.snapshot)));
    // JSON has no Infinity and undefined.
    const now: unknown = JSON.parse(JSON.stringify(decision));
    const { differences, wording } = compareDecisions(line.decision, now);
    const all = line.version === version ? [...differences, ...wording] : differences;
    return all.length > 0 ? { kind: 'different', differences: all } : { kind: 'same', wording };
  } catch (error) {
    if (error instanceof SnapshotError) return { kind: 'invalid', error: error.message };
    throw error;
  }
}

/** A value that differs between two decisions on the same snapshot. Undefined: the member is missing. */
export interface Difference {
  /** Path of the value, such as `limits[0].limit`. */
  readonly field: string;
  readonly then: unknown;
  readonly now: unknown;
}

/** Strings for people. They may change between versions. Source: contract.md section 8. */
const WORDING =
  /^(?:reason|limits\[\d+\]\.reason|conditions\[\d+\]\.message|forecast\.why|metrics\[\d+\]\.(?:error|partial|podReasons\..*)|state\.holdReason)$/;

/** Compares two decisions as JSON. Returns the differences, with differences of wording in a separate list. */
function compareDecisions(
  then: unknown,
  now: unknown,
): { readonly differences: readonly Difference[]; readonly wording: readonly Difference[] } {
  const found: Difference[] = [];
  compare('', { then, now }, found);
  const isWording = ({ field, then, now }: Difference): boolean =>
    typeof then === 'string' && typeof now === 'string' && WORDING.test(field);
  return { differences: found.filter((each) => !isWording(each)), wording: found.filter(isWording) };
}

function compare(field: string, { then, now }: Omit<Difference, 'field'>, found: Difference[]): void {
  if (Object.is(then, now)) return;
  if (Array.isArray(then) && Array.isArray(now)) {
    const length = Math.max(then.length, now.length);
    for (let index = 0; index < length; index += 1)
      compare(`${field}[${index}]`, { then: then[index] as unknown, now: now[index] as unknown }, found);
    return;
  }
  if (isPlainObject(then) && isPlainObject(now)) {
    for (const name of new Set([...Object.keys(then), ...Object.keys(now)]))
      compare(field === '' ? name : `${field}.${name}`, { then: then[name], now: now[name] }, found);
    return;
  }
  found.push({ field, then, now });
}
