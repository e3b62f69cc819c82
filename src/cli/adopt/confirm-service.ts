import type { ScalerView } from '../../api/answers.js';
import { type Instant, parseInstant } from '../../units/time.js';
import { countOf } from '../../units/format.js';
import { CommandError } from '../output/io.js';
import { type ServiceClient, createServiceClient } from '../reach/service-client.js';
import {
  type AdoptContext,
  type ScalerObject,
  nameScaler,
  nameWorkload,
  pollFor,
  readDryRun,
} from './adoption.js';
import { type ServiceView, readView, whyLacking, whyNoValue, whyPaused, whyUnable } from './service-view.js';

/** The service sees the new generation and the deletion of the HPA at once, and decides within a sync period. */
const CONFIRM_MS = 90_000;

/** After this many decisions that were not applied, and after this time, the next one will not be applied either. */
const MOST_DECISIONS = 3;
const DECISIONS_MS = 10_000;

interface Confirmation {
  /** The last decision before the dry run ended; null: the dry run had ended before this command. */
  readonly after: Instant | null;
  /** The replicas at that decision; null: not known. */
  readonly replicasBefore: number | null;
  /** Whether a decision without metrics counts, such as one that a bound determined. */
  readonly isForced: boolean;
}

interface Doubt {
  readonly why: string;
  /** Time of the first decision that is not in dry run; null: none yet; never: there will be none. */
  readonly decidedAt: Instant | 'never' | null;
}

/**
 * Waits for a decision that the service has applied, or would have applied if the count had to change. Prints it and
 * returns null; otherwise returns why there is none.
 */
export async function confirmService(
  context: AdoptContext,
  scaler: ScalerObject,
  wanted: Confirmation,
): Promise<string | null> {
  const { io } = context;
  const startMs = io.clock.monotonicMs();
  const decisions = new Set<Instant>();
  let why = '';
  const client = await createServiceClient(context.options, io);
  try {
    const confirmed = await pollFor(io, CONFIRM_MS, async () => {
      const found = await tryConfirm(context, scaler, { client, wanted });
      if (!('why' in found)) return found;
      ({ why } = found);
      if (found.decidedAt === 'never') return { row: null };
      if (found.decidedAt !== null) decisions.add(found.decidedAt);
      const isFinal = decisions.size >= MOST_DECISIONS && io.clock.monotonicMs() - startMs >= DECISIONS_MS;
      return isFinal ? { row: null } : null;
    });
    const row = confirmed?.row ?? null;
    if (row === null) return why;
    const { to } = row.outcome;
    const from = wanted.replicasBefore ?? row.outcome.from;
    const replicas =
      to === null
        ? ''
        : from === to
          ? `, now ${countOf(to, 'replica')}`
          : `, ${from} -> ${countOf(to, 'replica')}`;
    io.stdout.write(`promscaler scales ${nameWorkload(context, scaler)}${replicas}\n`);
    return null;
  } finally {
    client.close();
  }
}

/** A failed request is a reason, too: the replica that answers may be the one that has just ended. */
async function tryConfirm(
  context: AdoptContext,
  scaler: ScalerObject,
  { client, wanted }: { readonly client: ServiceClient; readonly wanted: Confirmation },
): Promise<Doubt | { readonly row: ScalerView | null }> {
  try {
    const view = await readView(client, { namespace: context.source.namespace, name: scaler.name });
    const doubt = doubtOf(view, wanted);
    // A deployment tool may have applied its own version of the object meanwhile.
    if ((await readDryRun(context, scaler)) !== false) {
      const why = `another client has set spec.dryRun of ${nameScaler(context, scaler)} again, or deleted it`;
      return { why, decidedAt: 'never' };
    }
    return doubt ?? { row: view.row };
  } catch (error) {
    if (error instanceof CommandError) return { why: error.message, decidedAt: null };
    throw error;
  }
}

function doubtOf({ row, isLed }: ServiceView, { after, isForced }: Confirmation): Doubt | null {
  const open = (why: string): Doubt => ({ why, decidedAt: null });
  if (row === null) return open('the service does not have it');
  if (!isLed) return open('no replica of the service leads');
  const at = parseInstant(row.at);
  if (at === null || (after !== null && at <= after)) return open('the service has not decided since');
  if (row.dryRun) return open('it is still in dry run; a service with --dry-run scales nothing');
  const held = heldOf(row);
  // Without permission to watch HPAs, the service lists them once a minute.
  if (held?.startsWith('ConflictingScaler') === true) return open(held);
  // A change to a bound uses no metric: the next decision shows whether each metric has a value.
  const lacking = isForced && row.outcome.kind !== 'patched' ? whyLacking(row) : whyNoValue(row);
  const why = whyPaused(row) ?? held ?? whyUnable(row) ?? lacking ?? whyFailed(row);
  return why === null ? null : { why, decidedAt: at };
}

function heldOf({ conditions }: ScalerView): string | null {
  const held = conditions.find(({ type }) => type === 'Held');
  if (held?.status === 'False') return null;
  return held === undefined ? 'Held: unknown' : `${held.reason}: ${held.message}`;
}

function whyFailed({ outcome: { kind, message } }: ScalerView): string | null {
  return kind === 'none' || kind === 'patched' ? null : `${kind}: ${message}`;
}
