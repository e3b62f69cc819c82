import { resolve } from 'node:path';
import { describeReadError } from '../../config/describe-read-error.js';
import { readLines } from '../../files/read-lines.js';
import { parseRecordLine } from '../../recording/record-line.js';
import type { RecordLine } from '../../recording/record-line.js';
import { listSome } from '../output/lines.js';
import { CommandError, type CommandIo } from '../output/io.js';

/** Larger than the largest snapshot: 15,000 pods with two containers and two metrics. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

interface NumberedLine {
  readonly number: number;
  readonly line: RecordLine | { readonly error: string };
}

/** The files have no line. */
export class EmptyRecordError extends CommandError {
  override name = 'EmptyRecordError';

  constructor(files: readonly string[]) {
    const are = files.length === 1 ? 'is' : 'are';
    super(`${listSome(files)} ${are} empty, must be a decision record (record.path of the service config)`);
  }
}

/**
 * Yields the lines of a decision record. `-`: standard input. Throws `CommandError` if it cannot be read, and
 * `EmptyRecordError` if it is empty.
 */
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
