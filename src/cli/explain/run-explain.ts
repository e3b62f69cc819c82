import type { Decision } from '../../decision/result/decision.js';
import { decisionToJson } from '../../decision/result/write-json.js';
import type { ScalerDetail } from '../../api/answers.js';
import { remediesOf } from '../../decision/remedies.js';
import { explainFile } from './explain-file.js';
import { explainLines, remedyLines } from '../explanation/explain-lines.js';
import { decideJson, EMPTY_SNAPSHOT, notJson, whyNoSnapshot } from '../input/read-record.js';
import { explainPast } from './explain-past.js';
import type { ReachOptions } from '../reach/find-service.js';
import { readInput } from '../input/read-files.js';
import { type CommandIo, type ExitCode, CommandError, usageError } from '../output/io.js';
import { nameProgram, textToPrint } from '../output/lines.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { type NamingOptions, readScalerName } from '../reach/scaler-name.js';
import type { ReadScaler, ScalerName } from '../reach/service-pages.js';
import { errorMessage } from '../../units/failure.js';
import { countOf } from '../../units/format.js';
import { withService } from '../reach/service-client.js';

export interface ExplainOptions extends ReachOptions, NamingOptions {
  readonly scaler?: string | undefined;
  /** File with a snapshot, which is explained without a service; `-`: standard input. */
  readonly snapshot?: string;
  /** Decision record that is read instead of the service; `-`: standard input. */
  readonly file?: string;
  readonly at?: string;
  readonly output: string;
}

/** Runs `explain`: prints the last decision of a scaler, a past decision, or the decision for a snapshot. */
export async function runExplain(options: ExplainOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const { scaler, snapshot: file } = options;
  const print = (text: string): ExitCode => {
    io.stdout.write(format === 'text' ? nameProgram(text, io) : text);
    return 0;
  };
  if (options.file !== undefined) {
    if (file !== undefined) throw usageError('--file cannot be combined with --snapshot');
    const { at, namespace } = options;
    return print(await explainFile({ file: options.file, scaler, namespace, at, format }, io));
  }
  if (scaler !== undefined && file !== undefined)
    throw usageError('explain takes either NAMESPACE/NAME or --snapshot FILE');
  if (file !== undefined && options.at !== undefined)
    throw usageError('--at cannot be combined with --snapshot, because --at reads from a running service');
  if (options.at !== undefined) {
    const request = { ...options, name: await readName(options, io), at: options.at, format };
    return print(await explainPast(request, io));
  }
  const read = file === undefined ? await readFromService(options, io) : null;
  const json = read === null ? await readSnapshotFile(file ?? '-', io) : read.snapshot;
  const { snapshot, decision } = decideJson(json, read !== null);
  if (format !== 'text') {
    const reported = read?.isOneCycle === true ? read.detail.decision : decisionToJson(decision);
    const status = read === null ? null : statusJson(read.detail);
    io.stdout.write(writeStructured(format, { decision: reported, snapshot: json, status }));
    return 0;
  }
  const now = read === null ? snapshot.now : io.clock.now();
  const lines = explainLines({ snapshot, decision, status: read?.detail ?? null, now });
  const remedies = read === null ? [] : remedyLines(remediesOf(read.detail));
  const text = [...lines, ...notes(read, decision), ...remedies].join('\n');
  io.stdout.write(`${textToPrint(text, io, snapshot.now)}\n`);
  return 0;
}

function readName(options: ExplainOptions, io: CommandIo): Promise<ScalerName> {
  if (options.scaler === undefined)
    throw usageError('explain needs a scaler (NAMESPACE/NAME), --snapshot FILE or --file FILE');
  return readScalerName(options.scaler, options, io);
}

async function readFromService(options: ExplainOptions, io: CommandIo): Promise<ReadScaler> {
  const name = await readName(options, io);
  return withService(options, io, (client) => client.readScaler(name));
}

async function readSnapshotFile(file: string, io: CommandIo): Promise<unknown> {
  const input = await readInput(file, io);
  if ('code' in input) throw new CommandError(`reading ${file}: ${input.message}`);
  if (input.text.trim() === '') throw new CommandError(EMPTY_SNAPSHOT);
  let json: unknown;
  try {
    json = JSON.parse(input.text);
  } catch (error) {
    const why = errorMessage(error);
    throw new CommandError(notJson(file, input.text, why));
  }
  const why = whyNoSnapshot(file, json);
  if (why !== null) throw new CommandError(why);
  return json;
}

function statusJson(detail: ScalerDetail): object {
  return Object.fromEntries(
    Object.entries(detail).filter(([key]) => key !== 'document' && key !== 'decision'),
  );
}

/**
 * Returns notes on differences from the service: this version of promscaler has decided again for the output, and the
 * version of the service may decide differently.
 */
function notes(read: ReadScaler | null, decision: Decision): readonly string[] {
  if (read === null) return [];
  if (!read.isOneCycle) return ['Note: the outcome below is from a later cycle than the decision'];
  const desired = read.detail.decision?.desiredReplicas ?? decision.desiredReplicas;
  return desired === decision.desiredReplicas
    ? []
    : [
        `Note: the service has a different version than this command and decided on ${countOf(desired, 'replica')}`,
      ];
}
