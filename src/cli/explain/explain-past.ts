import type { DecisionEntry, SnapshotAnswer } from '../../api/answers.js';
import { formatInstant, type Instant } from '../../units/time.js';
import type { ReachOptions } from '../reach/find-service.js';
import type { CommandIo } from '../output/io.js';
import { CommandError } from '../output/io.js';
import { writeStructured } from '../output/output-format.js';
import { createServiceClient } from '../reach/service-client.js';
import type { PastScaler, ScalerName } from '../reach/service-pages.js';
import { decideJson } from './decide-json.js';
import { explainLines } from '../explanation/explain-lines.js';
import { entryLines, periodLines } from './past-lines.js';
import { parsePastTime } from './parse-time.js';
import { readStatus } from './read-status.js';
import { localTimes } from '../output/lines.js';

interface PastRequest extends ReachOptions {
  readonly name: ScalerName;
  /** In a format of `parsePastTime`. */
  readonly at: string;
  readonly format: 'text' | 'json' | 'yaml';
}

/** Throws `CommandError` if the service does not retain the decision in effect at that time. */
export async function explainPast(request: PastRequest, io: CommandIo): Promise<string> {
  const { name, format } = request;
  const key = `${name.namespace}/${name.name}`;
  const at = parsePastTime(request.at, io.clock.now());
  const past = await readFromService(request, at, io);
  const { entry, snapshot, missing, history } = past;
  if (entry === null)
    throw new CommandError(
      `no decision for ${key} at ${formatInstant(at)}: the service retains decisions in memory, the first one is from ${past.keptFrom}`,
    );
  if (format !== 'text') return writeStructured(format, pastJson(at, past));
  const lines = snapshot === null ? entryLines(key, entry, missing) : snapshotLines(snapshot, entry, past);
  return localTimes(`${[...periodLines(at, entry, history), '', ...lines].join('\n')}\n`);
}

async function readFromService(
  { name, ...reach }: PastRequest,
  at: Instant,
  io: CommandIo,
): Promise<PastScaler> {
  const client = await createServiceClient(reach, io);
  try {
    return await client.readPast(name, at);
  } finally {
    client.close();
  }
}

/** Relative times refer to the time of the decision. */
function snapshotLines(
  json: SnapshotAnswer,
  entry: DecisionEntry,
  { lastScaleUp, lastScaleDown }: PastScaler,
): readonly string[] {
  const { snapshot, decision } = decideJson(json, true);
  const reported = readStatus(entry);
  const conditions = reported.conditions.map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message,
  }));
  const status = { ...reported, conditions, lastScaleUp, lastScaleDown };
  return explainLines({ snapshot, decision, status, now: snapshot.now });
}

function pastJson(at: Instant, { entry, snapshot, missing, keptFrom }: PastScaler): unknown {
  const { decision = null, ...status } = entry ?? {};
  return { at: formatInstant(at), keptFrom, decision, snapshot, missing, status };
}
