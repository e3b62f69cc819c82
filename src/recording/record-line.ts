import { decisionToJson, snapshotToJson } from '../decision/result/write-json.js';
import { isPlainObject } from '../scaler/plain-json.js';
import { type CycleRecord, pauseToJson } from '../telemetry/cycle-record.js';
import { formatInstant, type Instant, instantOrNull, parseInstant } from '../units/time.js';

/** Increases when a reader of the previous format would misread a line. */
export const RECORD_FORMAT = 1;

/** One parsed line of the decision record. Another version of promscaler may have written its JSON members. */
export interface RecordLine {
  /** Version of promscaler. */
  readonly version: string;
  /** `NAMESPACE/NAME`. */
  readonly scaler: string;
  readonly at: Instant;
  /** Null: the target could not be read. */
  readonly snapshot: unknown;
  readonly decision: Readonly<Record<string, unknown>> | null;
  /** Outcome, conditions and the other members, as in the HTTP API. */
  readonly status: Readonly<Record<string, unknown>>;
}

/** Returns a line without line break. It contains the document and values of metrics, but no credentials. */
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

/** Returns a sentence without subject that says why the line is not a line of a decision record. */
export function parseRecordLine(text: string): RecordLine | { readonly error: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { error: 'is not JSON; a line that ends early was interrupted while it was written' };
  }
  if (!isPlainObject(json)) return { error: 'is not an object' };
  const { format, promscaler, scaler, at, snapshot, decision, ...status } = json;
  if (format === undefined) return { error: 'has no field "format", so it is not of a decision record' };
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
