import { decide } from '../decision/decide.js';
import { decisionToJson } from '../decision/result/write-json.js';
import { SnapshotError, parseSnapshot } from '../decision/snapshot/parse-snapshot.js';
import { compareDecisions } from './compare-decisions.js';
import type { Difference } from './compare-decisions.js';
import type { RecordLine } from './record-line.js';

/**
 * `none`: the target could not be read, so there was no decision. `same`: with `wording`, only strings for people differ,
 * and another version wrote them. `invalid`: this version rejects the snapshot.
 */
export type Replayed =
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
