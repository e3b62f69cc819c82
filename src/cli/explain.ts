import type { Decision } from '../decision/decision.js';
import { decisionToJson } from '../decision/write-json.js';
import { type JsonObject, asObject, countIn, objectIn } from '../kubernetes/json.js';
import { decideJson } from './explain/decide-json.js';
import { EMPTY_SNAPSHOT } from './decide.js';
import { explainLines } from './explain/explain-lines.js';
import { notJson, whyNoSnapshot } from './explain/not-a-snapshot.js';
import { explainPast } from './explain/explain-past.js';
import { readStatus } from './explain/read-status.js';
import type { ReachOptions } from './reach/find-service.js';
import { readInput } from './input-files.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { readOutputFormat, writeStructured } from './output-format.js';
import { type NamingOptions, readScalerName } from './scaler-name.js';
import { createServiceClient } from './reach/service-client.js';
import type { ReadScaler, ScalerName } from './reach/service-pages.js';

export interface ExplainOptions extends ReachOptions, NamingOptions {
  /** `NAMESPACE/NAME`, or `NAME`; left out where a snapshot is given. */
  readonly scaler?: string | undefined;
  /** A file with a snapshot, `-`: standard input; no service is asked. */
  readonly snapshot?: string;
  /** The decision in force then: a time, a time of day, or how long ago. */
  readonly at?: string;
  /** `text`, `json` or `yaml`. */
  readonly output: string;
}

/** `explain NAMESPACE/NAME`: the last decision as text, one of the past, or the one on a snapshot of a file. */
export async function runExplain(options: ExplainOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const { scaler, snapshot: file } = options;
  if (scaler !== undefined && file !== undefined)
    throw new CommandError('explain takes NAMESPACE/NAME or --snapshot FILE, not both', 2);
  if (file !== undefined && options.at !== undefined)
    throw new CommandError('--at asks a running service: it does not go with --snapshot', 2);
  if (options.at !== undefined) {
    const question = { ...options, name: await readName(options, io), at: options.at, format };
    io.stdout.write(await explainPast(question, io));
    return 0;
  }
  const asked = file === undefined ? await askService(await readName(options, io), options, io) : null;
  const json = asked === null ? await readSnapshotFile(file ?? '-', io) : asked.snapshot;
  const { snapshot, decision } = decideJson(json, asked !== null);
  if (format !== 'text') {
    const made = asked?.isOneCycle === true ? asked.detail['decision'] : decisionToJson(decision);
    const status = asked === null ? null : statusJson(asked.detail);
    io.stdout.write(writeStructured(format, { decision: made, snapshot: json, status }));
    return 0;
  }
  const status = asked === null ? null : readStatus(asked.detail);
  const now = asked === null ? snapshot.now : io.clock.now();
  const lines = explainLines({ snapshot, decision, status, now });
  io.stdout.write(`${[...lines, ...remarks(asked, decision)].join('\n')}\n`);
  return 0;
}

function readName(options: ExplainOptions, io: CommandIo): Promise<ScalerName> {
  if (options.scaler === undefined)
    throw new CommandError('explain needs NAMESPACE/NAME of a scaler, or --snapshot FILE', 2);
  return readScalerName(options.scaler, options, io);
}

async function askService(name: ScalerName, options: ReachOptions, io: CommandIo): Promise<ReadScaler> {
  const client = await createServiceClient(options, io);
  try {
    return await client.readScaler(name);
  } finally {
    client.close();
  }
}

async function readSnapshotFile(file: string, io: CommandIo): Promise<unknown> {
  const input = await readInput(file, io);
  if ('code' in input) throw new CommandError(`reading ${file}: ${input.message}`);
  if (input.text.trim() === '') throw new CommandError(EMPTY_SNAPSHOT);
  let json: unknown;
  try {
    json = JSON.parse(input.text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(notJson(file, input.text, why));
  }
  const why = whyNoSnapshot(file, json);
  if (why !== null) throw new CommandError(why);
  return json;
}

/** All that the service tells beyond document and decision. */
function statusJson(detail: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(detail).filter(([key]) => key !== 'document' && key !== 'decision'),
  );
}

/** The text tells what this version decides; a service of another version may have come to something else. */
function remarks(asked: ReadScaler | null, decision: Decision): readonly string[] {
  if (asked === null) return [];
  const made = objectIn(asObject(asked.detail), 'decision');
  const desired = countIn(made, 'desiredReplicas');
  if (!asked.isOneCycle) return ['Remark: the outcome is of a later cycle than the decision'];
  return desired === null || desired === decision.desiredReplicas
    ? []
    : [`Remark: the service itself, of another version, decided on ${desired}`];
}
