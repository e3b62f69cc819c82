import { parseJson } from '../units/json-bounds.js';
import { decisionToJson, snapshotToJson } from '../decision/result/write-json.js';
import { isPlainObject } from '../scaler/plain-json.js';
import { type CycleRecord, pauseToJson } from '../telemetry/cycle-record.js';
import { formatInstant, type Instant, instantOrNull, parseInstant } from '../units/time.js';
import { decide } from '../decision/decide.js';
import { SnapshotError, parseSnapshot } from '../decision/snapshot/parse-snapshot.js';

/** The version of the format. It is increased when a reader of the previous version would misread a line. */
export const RECORD_FORMAT = 1;

/** A parsed line of the decision record. Its JSON members may come from another version of promscaler. */
export interface RecordLine {
  /** The version of promscaler that wrote the line. */
  readonly version: string;
  /** The scaler as `NAMESPACE/NAME`. */
  readonly scaler: string;
  readonly at: Instant;
  /** The snapshot as JSON; null: the target could not be read. */
  readonly snapshot: unknown;
  readonly decision: Readonly<Record<string, unknown>> | null;
  /** Outcome, conditions and other members, as in the HTTP API. */
  readonly status: Readonly<Record<string, unknown>>;
}

/** Returns a line without a line break. It contains the document and values of metrics, but no credentials. */
export function formatRecordLine(record: CycleRecord, version: string): string {
  const { snapshot, decision, lastScales } = record;
  return JSON.stringify({
    format: RECORD_FORMAT,
    promscaler: version,
    scaler: record.scaler.key,
    at: formatInstant(record.at),
    outcome: record.outcome,
    reason: record.reason ?? null,
    pause: pauseToJson(record.pause),
    dryRun: record.dryRun,
    conditions: record.conditions,
    conflictingWriter: record.conflictingWriter ?? null,
    lastScaleUp: instantOrNull(lastScales?.up),
    lastScaleDown: instantOrNull(lastScales?.down),
    decision: decision === null ? null : decisionToJson(decision),
    snapshot: snapshot === null ? null : snapshotToJson(snapshot),
  });
}

/**
 * Parses a line. `error` says why the line does not belong to a decision record, as a predicate such as `is not JSON`.
 */
export function parseRecordLine(text: string): RecordLine | { readonly error: string } {
  const json = parseJson(text);
  if (json === undefined) return { error: 'is not JSON; if the line ends early, writing was interrupted' };
  if (!isPlainObject(json)) return { error: 'is not an object' };
  const { format, promscaler, scaler, at, snapshot, decision, ...status } = json;
  if (format === undefined) return { error: 'has no field "format" and is not a line of a decision record' };
  if (format !== RECORD_FORMAT)
    return { error: `has format ${JSON.stringify(format)}, must be ${RECORD_FORMAT}` };
  const time = typeof at === 'string' ? parseInstant(at) : null;
  if (time === null) return { error: 'has no time in "at"' };
  if (typeof scaler !== 'string' || typeof promscaler !== 'string')
    return { error: 'has no scaler or no version of promscaler' };
  if ((snapshot ?? null) !== null && !isPlainObject(decision)) return { error: 'has no decision' };
  return {
    version: promscaler,
    scaler,
    at: time,
    snapshot: snapshot ?? null,
    decision: isPlainObject(decision) ? decision : null,
    status,
  };
}

/**
 * The result of a repeated decision. `none`: there was no decision, because the target could not be read. `same`: no
 * difference, or only differences in strings for people that another version wrote (`wording`). `invalid`: this version
 * rejects the snapshot.
 */
type Replayed =
  | { readonly kind: 'none' }
  | { readonly kind: 'same'; readonly wording: readonly Difference[] }
  | { readonly kind: 'different'; readonly differences: readonly Difference[] }
  | { readonly kind: 'invalid'; readonly error: string };

/** Repeats the decision on a recorded snapshot, and compares it with the recorded decision. */
export function replayLine(line: RecordLine, version: string): Replayed {
  if (line.snapshot === null) return { kind: 'none' };
  try {
    const decision = decisionToJson(decide(parseSnapshot(line.snapshot)));
    // The recorded decision went through JSON, which has neither undefined (dropped) nor Infinity (null), so this
    // decision must, too.
    const now: unknown = JSON.parse(JSON.stringify(decision));
    const { differences, wording } = compareDecisions(line.decision, now);
    const all = line.version === version ? [...differences, ...wording] : differences;
    return all.length > 0 ? { kind: 'different', differences: all } : { kind: 'same', wording };
  } catch (error) {
    if (error instanceof SnapshotError) return { kind: 'invalid', error: error.message };
    throw error;
  }
}

/** A value in which two decisions on the same snapshot differ. Undefined: the member is missing. */
export interface Difference {
  /** The path of the value, such as `limits[0].limit`. */
  readonly field: string;
  readonly then: unknown;
  readonly now: unknown;
}

/** Fields with strings for people, which may change between versions. Source: contract.md section 8. */
const WORDING =
  /^(?:reason|limits\[\d+\]\.reason|conditions\[\d+\]\.message|forecast\.why|metrics\[\d+\]\.(?:error|partial|podReasons\..*)|state\.holdReason)$/;

/**
 * Compares two decisions as JSON. Differences in strings for people are returned in `wording`, all others in
 * `differences`.
 */
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
