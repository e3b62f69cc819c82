import { resolve } from 'node:path';
import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import { SnapshotError, parseSnapshot } from '../../decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import { describeReadError, readLines } from '../../files/read-bounded.js';
import { parseRecordLine, type RecordLine } from '../../recording/record-line.js';
import { isPlainObject, valueAt } from '../../scaler/plain-json.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { listSome } from '../../units/format.js';

/** Limits a line. The largest snapshot is smaller: 15,000 pods with two containers and two metrics. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

interface NumberedLine {
  readonly number: number;
  readonly line: RecordLine | { readonly error: string };
}

/** Thrown if the files contain no line. */
export class EmptyRecordError extends CommandError {
  override name = 'EmptyRecordError';

  constructor(files: readonly string[]) {
    const are = files.length === 1 ? 'is' : 'are';
    super(`${listSome(files)} ${are} empty, must be a decision record (record.path of the service config)`);
  }
}

/** Yields the lines of a decision record. Throws `CommandError`, or `EmptyRecordError` if the record is empty. */
export async function* readRecord(file: string, io: CommandIo): AsyncGenerator<NumberedLine> {
  let lines = 0;
  try {
    const source =
      file === '-' ? linesOf(await io.readStdin()) : readLines(resolve(io.cwd, file), MAX_LINE_BYTES);
    for await (const { number, text } of source) {
      if (io.signal.aborted) throw new CommandError(`reading ${file}: interrupted`);
      if (text.trim() === '') continue;
      lines += 1;
      yield { number, line: parseRecordLine(text) };
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`reading ${file}: ${describeReadError(error)}`);
  }
  if (lines === 0) throw new EmptyRecordError([file]);
}

function linesOf(text: string): readonly { readonly number: number; readonly text: string }[] {
  return text.split('\n').map((line, index) => ({ number: index + 1, text: line }));
}

const WHAT_A_SNAPSHOT_IS =
  'A snapshot is the JSON input of one decision (scaler, now, target, pods, samples, state). A running service returns a snapshot at /api/v1/scalers/NAMESPACE/NAME/snapshot';

export const EMPTY_SNAPSHOT =
  'the input is empty, must be a snapshot as JSON. A running service returns a snapshot at /api/v1/scalers/NAMESPACE/NAME/snapshot';

const FIELDS = ['scaler', 'now', 'target', 'pods', 'samples', 'state'];

/**
 * Returns a message that says what the JSON is instead of a snapshot. Null: the JSON has a field of a snapshot, so an
 * error about that field helps more.
 */
export function whyNoSnapshot(name: string, json: unknown): string | null {
  if (!isPlainObject(json)) return null;
  if (Object.keys(json).length === 0)
    return `${called(name)} is not a snapshot: the object is empty. ${WHAT_A_SNAPSHOT_IS}`;
  if (isPlainObject(json['snapshot']) && 'decision' in json)
    return `${called(name)} is not a snapshot, but the output of explain -o json. Extract the field "snapshot" (jq .snapshot)`;
  if (FIELDS.some((field) => Object.hasOwn(json, field))) return null;
  const kind = json['kind'];
  if (typeof kind === 'string')
    return `${called(name)} is ${describeKind(kind)}, not a snapshot. ${advice(kind, name)}`;
  if ('desiredReplicas' in json)
    return `${called(name)} is a decision, not a snapshot. ${WHAT_A_SNAPSHOT_IS}`;
  return null;
}

/**
 * Returns the message for input that is not JSON. It names the kind if the input is a YAML document, otherwise it
 * quotes the error of the parser.
 */
export function notJson(name: string, text: string, error: string): string {
  // A large input is not parsed as YAML: it is a truncated snapshot, because documents are small.
  const kind = text.length > LARGEST_DOCUMENT ? null : valueAt(readYaml(text, name)[0]?.value, ['kind']);
  const why = typeof kind === 'string' ? whyNoSnapshot(name, { kind }) : null;
  return why ?? `${called(name)} is not a snapshot: it is not JSON: ${error}`;
}

const LARGEST_DOCUMENT = 65_536;

function describeKind(kind: string): string {
  return kind === 'Scaler' ? 'a scaler document' : `a ${kind}`;
}

function advice(kind: string, name: string): string {
  const next = kind === 'Scaler' ? `promscaler show ${name} prints it with every default. ` : '';
  return `${next}${WHAT_A_SNAPSHOT_IS}`;
}

function called(name: string): string {
  return name === '-' ? 'standard input' : name;
}

/** Decides on a snapshot. Throws `CommandError` if it is invalid. `called`: what the message calls the snapshot. */
export function decideJson(
  json: unknown,
  isFromService: boolean,
  called = 'the snapshot',
): { readonly snapshot: Snapshot; readonly decision: Decision } {
  try {
    const snapshot = parseSnapshot(json);
    return { snapshot, decision: decide(snapshot) };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const hint = isFromService ? '. The version of the service may be newer than this command' : '';
    throw new CommandError(`${called} is invalid: ${error.message}${hint}`);
  }
}
