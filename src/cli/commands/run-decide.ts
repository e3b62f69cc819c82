import { resolve } from 'node:path';
import { readNamedFile } from '../input/read-files.js';
import { decide } from '../../decision/decide.js';
import { SnapshotError, parseSnapshot } from '../../decision/snapshot/parse-snapshot.js';
import { decisionToJson } from '../../decision/result/write-json.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { periodicYield } from '../../units/clock.js';
import { type CommandIo, type ExitCode, CommandError } from '../output/io.js';
import { EMPTY_SNAPSHOT, notJson, whyNoSnapshot } from '../input/read-record.js';
import { errorMessage } from '../../units/failure.js';

/**
 * Runs `decide`: prints the decision for a snapshot as JSON. If the input is not a single JSON value, it is read as
 * NDJSON: each line of output is a decision or `{"error", "line"}`, and after an error the exit code is 1. If no line
 * is a JSON object, the whole input is rejected.
 */
export async function runDecide(file: string, io: CommandIo): Promise<ExitCode> {
  const bounds = { mostBytes: MOST_BYTES, pipe: { signal: io.signal } };
  const text =
    file === '-'
      ? await io.readStdin()
      : await readNamedFile(`reading ${file}`, resolve(io.cwd, file), bounds);
  const whole = parseJson(text);
  if ('value' in whole) return decideOne(whole.value, file, io);
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const filled = lines.filter(({ line }) => line !== '');
  if (filled.length === 0) throw new CommandError(EMPTY_SNAPSHOT);
  if (!filled.some(({ line }) => isObject(line))) throw new CommandError(notJson(file, text, whole.error));
  return decideLines(file, filled, io);
}

/** Limits the input. It is enough for NDJSON of several weeks; a string in Node.js has at most 512 MiB. */
const MOST_BYTES = 256 * 1024 * 1024;

function isObject(line: string): boolean {
  const parsed = parseJson(line);
  return 'value' in parsed && isPlainObject(parsed.value);
}

function parseJson(text: string): { readonly value: unknown } | { readonly error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

function decideOne(json: unknown, file: string, io: CommandIo): ExitCode {
  if (Array.isArray(json))
    throw new CommandError(
      'the snapshot is a list, must be an object. To pass several snapshots, put each on its own line',
    );
  const why = whyNoSnapshot(file, json);
  if (why !== null) throw new CommandError(why);
  try {
    io.stdout.write(`${JSON.stringify(decideJson(json), null, 2)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof SnapshotError) throw new CommandError(error.message);
    throw error;
  }
}

/** Throws `CommandError` if the command is interrupted, because the decisions of weeks take minutes. */
async function decideLines(
  file: string,
  lines: readonly { line: string; number: number }[],
  { stdout, clock, signal }: CommandIo,
): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  // Yields to the event loop, because otherwise an interrupt would not be noticed.
  const yieldIfDue = periodicYield(clock);
  for (const { line, number } of lines) {
    await yieldIfDue();
    if (signal.aborted) throw new CommandError(`deciding on ${file}: interrupted in line ${number}`);
    const answer = decideLine(line);
    if ('error' in answer) {
      exitCode = 1;
      stdout.write(`${JSON.stringify({ error: answer.error, line: number })}\n`);
    } else {
      stdout.write(`${JSON.stringify(answer.decision)}\n`);
    }
  }
  return exitCode;
}

function decideLine(line: string): { readonly decision: unknown } | { readonly error: string } {
  const parsed = parseJson(line);
  if ('error' in parsed) return { error: `not JSON: ${parsed.error}` };
  const why = whyNoSnapshot('this line', parsed.value);
  if (why !== null) return { error: why };
  try {
    return { decision: decideJson(parsed.value) };
  } catch (error) {
    if (error instanceof SnapshotError) return { error: error.message };
    throw error;
  }
}

function decideJson(json: unknown): unknown {
  return decisionToJson(decide(parseSnapshot(json)));
}
