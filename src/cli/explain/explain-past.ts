import { formatInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { ReachOptions } from '../reach/find-service.js';
import type { CommandIo } from '../io.js';
import { CommandError } from '../io.js';
import { writeStructured } from '../output-format.js';
import { createServiceClient } from '../reach/service-client.js';
import type { PastScaler, ScalerName } from '../reach/service-pages.js';
import { decideJson } from './decide-json.js';
import { explainLines } from './explain-lines.js';
import { entryLines, momentLines } from './past-lines.js';
import { readMoment } from './read-moment.js';
import { readStatus } from './read-status.js';

export interface PastQuestion extends ReachOptions {
  readonly name: ScalerName;
  /** As `readMoment` takes it. */
  readonly at: string;
  readonly format: 'text' | 'json' | 'yaml';
}

/** The text (or JSON, or YAML) of the decision that was in force at an instant. Throws `CommandError` where nothing is kept of it. */
export async function explainPast(question: PastQuestion, io: CommandIo): Promise<string> {
  const { name, format } = question;
  const key = `${name.namespace}/${name.name}`;
  const at = readMoment(question.at, io.clock.now());
  const past = await askService(question, at, io);
  if (past === null) throw new CommandError('the service is older than this command: it does not know --at');
  if (past.entry === null)
    throw new CommandError(
      `nothing is kept of ${key} at ${formatInstant(at)}: its decisions are kept from ${past.keptFrom} on, in memory, by the service since it started`,
    );
  if (format !== 'text') return writeStructured(format, pastJson(at, past));
  const { snapshot } = past;
  const lines =
    snapshot === null ? entryLines(key, past) : explainedLines(snapshot, { ...past, entry: past.entry });
  return `${[...momentLines(at, past), '', ...lines].join('\n')}\n`;
}

async function askService(
  { name, ...reach }: PastQuestion,
  at: Instant,
  io: CommandIo,
): Promise<PastScaler | null> {
  const client = await createServiceClient(reach, io);
  try {
    return await client.readPast(name, at);
  } finally {
    client.close();
  }
}

/** "ago" and "in" count from the decision itself: what is left of a window is what was left then. */
function explainedLines(
  json: NonNullable<PastScaler['snapshot']>,
  { entry, lastScaleUp, lastScaleDown }: PastScaler & { readonly entry: NonNullable<PastScaler['entry']> },
): readonly string[] {
  const { snapshot, decision } = decideJson(json, true);
  const told = readStatus(entry);
  const conditions = told.conditions.map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message,
  }));
  const status = { ...told, conditions, lastScaleUp, lastScaleDown };
  return explainLines({ snapshot, decision, status, now: snapshot.now });
}

function pastJson(at: Instant, { entry, snapshot, missing, keptFrom }: PastScaler): unknown {
  const { decision = null, ...status } = entry ?? {};
  return { at: formatInstant(at), keptFrom, decision, snapshot, missing, status };
}
