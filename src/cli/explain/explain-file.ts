import { reportedCycleSchema } from '../../api/answer-schemas.js';
import type { ReportedCycle } from '../../api/answers.js';
import { AnswerError, readAnswer } from '../../api/read-answer.js';
import { unreadTarget } from '../../decision/failing.js';
import type { RecordLine } from '../../recording/record-line.js';
import { formatInstant, type Instant } from '../../units/time.js';
import { cleanText } from '../../units/clean-text.js';
import { decideJson, readRecord } from '../input/read-record.js';
import { shortTimes } from '../output/lines.js';
import { writeStructured } from '../output/output-format.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { VERSION } from '../output/version.js';
import { explainLines } from '../explanation/explain-lines.js';
import { parsePastTime } from './explain-past.js';
import { listSome } from '../../units/format.js';

interface FileRequest {
  /** Path of the decision record; `-`: standard input. */
  readonly file: string;
  /** `NAMESPACE/NAME` or `NAME`; may be unset if the file contains only one scaler. */
  readonly scaler: string | undefined;
  readonly namespace: string | undefined;
  /** A time in a format of `parsePastTime`. Unset: the last decision is explained. */
  readonly at: string | undefined;
  readonly format: 'text' | 'json' | 'yaml';
}

/** Explains the last decision of a decision record, or the last decision at or before `at`. */
export async function explainFile(request: FileRequest, io: CommandIo): Promise<string> {
  const at = request.at === undefined ? null : parsePastTime(request.at, io.clock.now());
  const { line, number, lines } = await findLine(request, at, io);
  const readStatus = (): ReportedCycle => readCycle(line, `${request.file}:${number}`);
  if (line.snapshot === null)
    throw new CommandError(
      `${line.scaler} has no decision at ${formatInstant(line.at)}: ${whyUnread(readStatus())}`,
    );
  const called = lines > 1 ? `the snapshot in line ${number} of ${request.file}` : 'the snapshot';
  const { snapshot, decision } = decideJson(line.snapshot, true, called);
  if (request.format !== 'text')
    return writeStructured(request.format, {
      at: formatInstant(line.at),
      decision: line.decision,
      snapshot: line.snapshot,
      status: line.status,
    });
  const status = readStatus();
  const explained = explainLines({ snapshot, decision, status, now: snapshot.now });
  const text = cleanText(`${[...explained, ...notes(line, decision.desiredReplicas)].join('\n')}\n`);
  return shortTimes(text, io.clock.now(), snapshot.now);
}

interface FoundLine {
  readonly line: RecordLine;
  readonly number: number;
  /** The number of lines in the file that are not empty. */
  readonly lines: number;
}

async function findLine(
  { file, scaler, namespace }: FileRequest,
  at: Instant | null,
  io: CommandIo,
): Promise<FoundLine> {
  const wanted =
    scaler !== undefined && namespace !== undefined && !scaler.includes('/')
      ? `${namespace}/${scaler}`
      : scaler;
  const scalers = new Set<string>();
  let found: Omit<FoundLine, 'lines'> | null = null;
  let lines = 0;
  let unread: string | null = null;
  let first: Instant | null = null;
  for await (const { number, line } of readRecord(file, io)) {
    lines += 1;
    if ('error' in line) {
      unread ??= `${file}:${number}: the line ${line.error}`;
      continue;
    }
    if (wanted !== undefined && line.scaler !== wanted && line.scaler.split('/')[1] !== wanted) continue;
    scalers.add(line.scaler);
    first ??= line.at;
    if ((at === null || line.at <= at) && (found === null || line.at >= found.line.at))
      found = { line, number };
  }
  if (scalers.size > 1)
    throw new CommandError(
      `${file} has several scalers (${listSome([...scalers])}); select one: promscaler explain ${[...scalers][0] ?? ''} --file ${file}`,
    );
  if (found !== null) return { ...found, lines };
  if (first !== null && at !== null)
    throw new CommandError(
      `no decision at ${formatInstant(at)}: the first decision of ${file} is from ${formatInstant(first)}`,
    );
  throw new CommandError(unread ?? `${file} has no decision of ${wanted ?? 'a scaler'}`);
}

/** Reads what the line says as the API does. `place` is the file with the number of the line. */
function readCycle({ status, decision }: RecordLine, place: string): ReportedCycle {
  try {
    return readAnswer(reportedCycleSchema, { ...status, decision }, place);
  } catch (error) {
    if (error instanceof AnswerError) throw new CommandError(`${place}: ${error.message}`);
    throw error;
  }
}

function whyUnread({ conditions }: ReportedCycle): string {
  return unreadTarget(conditions)?.message ?? 'the target could not be read';
}

function notes({ version, decision }: RecordLine, desired: number): readonly string[] {
  const then = decision?.['desiredReplicas'];
  return then === desired
    ? []
    : [
        `Note: the desired replicas were ${String(then)} in version ${version}, and are ${desired} in this version (${VERSION})`,
      ];
}
