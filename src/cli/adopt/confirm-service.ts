import type { ScalerView } from '../../api/answers.js';
import { type Instant, parseInstant } from '../../units/time.js';
import { countOf } from '../../units/format.js';
import { CommandError, orCommandError } from '../output/io.js';
import { type ServiceClient, withService } from '../reach/service-client.js';
import {
  type AdoptContext,
  type ScalerObject,
  nameScaler,
  nameWorkload,
  pollFor,
  readDryRun,
} from './adoption.js';

import { cannotScale } from '../../decision/failing.js';
import type { ScalerName } from '../reach/service-pages.js';

/** Maximum wait: the service sees the new generation and the deleted HPA, and decides within a sync period. */
const CONFIRM_MS = 90_000;

/** The switch counts as failed after this many decisions that were not applied, but not before `DECISIONS_MS`. */
const MOST_DECISIONS = 3;
const DECISIONS_MS = 10_000;

interface Confirmation {
  /** Time of the last decision in dry run; null: the dry run had already ended before this command. */
  readonly after: Instant | null;
  /** The replicas before the last decision in dry run; null: unknown. */
  readonly replicasBefore: number | null;
  /**
   * Whether a decision without any metric confirms the switch, as with `--force`. A bound, for example, determines such
   * a decision. The decision must not have changed the replicas.
   */
  readonly isForced: boolean;
  /** Whether to wait for such a decision. False: the last decision counts. */
  readonly waits: boolean;
}

interface Doubt {
  readonly why: string;
  /** Time of the first decision without dry run; null: there is none yet; `never`: there will be none. */
  readonly decidedAt: Instant | 'never' | null;
}

/**
 * Waits until the service has applied a decision, or has decided that the count need not change. Prints the decision
 * and returns null. If there is no such decision, returns the reason.
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
  const confirmed = await withService(context.options, io, (client) =>
    pollFor(io, wanted.waits ? CONFIRM_MS : 0, async () => {
      const tried = await orCommandError(() => tryConfirm(context, scaler, { client, wanted }));
      // A failed request only delays the confirmation, because a replica may be shutting down.
      const found = tried instanceof CommandError ? { why: tried.message, decidedAt: null } : tried;
      if (!('why' in found)) return found;
      ({ why } = found);
      if (found.decidedAt === 'never') return { row: null };
      if (found.decidedAt !== null) decisions.add(found.decidedAt);
      const isFinal = decisions.size >= MOST_DECISIONS && io.clock.monotonicMs() - startMs >= DECISIONS_MS;
      return isFinal ? { row: null } : null;
    }),
  );
  const row = confirmed?.row ?? null;
  if (row === null) return why;
  const { to } = row.outcome;
  const from = wanted.replicasBefore ?? row.outcome.from;
  const change = from === to ? ', now' : `, ${from} ->`;
  const replicas = to === null ? '' : `${change} ${countOf(to, 'replica')}`;
  io.stdout.write(`promscaler scales ${nameWorkload(context, scaler)}${replicas}\n`);
  return null;
}

/** Returns the confirmed state, or why the switch is not confirmed. */
async function tryConfirm(
  context: AdoptContext,
  scaler: ScalerObject,
  { client, wanted }: { readonly client: ServiceClient; readonly wanted: Confirmation },
): Promise<Doubt | { readonly row: ScalerView | null }> {
  const view = await readView(client, { namespace: context.source.namespace, name: scaler.name });
  // Between the two requests, a deployment tool may have applied its own version of the object.
  if ((await readDryRun(context, scaler)) !== false) {
    const why = `another client has set spec.dryRun of ${nameScaler(context, scaler)} again, or has deleted the scaler`;
    return { why, decidedAt: 'never' };
  }
  return doubtOf(view, wanted) ?? { row: view.row };
}

function doubtOf({ row, isLed }: ServiceView, { after, isForced }: Confirmation): Doubt | null {
  const open = (why: string): Doubt => ({ why, decidedAt: null });
  if (row === null) return open('the service does not have the scaler');
  if (!isLed) return open('no replica of the service is the leader');
  const at = parseInstant(row.at);
  if (at === null || (after !== null && at <= after))
    return open('the service has made no decision since the switch');
  if (row.dryRun)
    return open('the last decision was still a dry run: check that the service runs without --dry-run');
  const held = heldOf(row);
  // This hold may end soon: a service without permission to watch HPAs lists them once a minute, and may still have the
  // deleted HPA.
  if (held?.startsWith('ConflictingScaler') === true) return open(held);
  // If a bound changed the replicas without any metric, the next decision shows whether each metric has a value.
  const lacking = isForced && row.outcome.kind !== 'patched' ? whyLacking(row) : whyNoValue(row);
  const why = row.pause?.message ?? held ?? whyUnable(row) ?? lacking ?? whyFailed(row);
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

/** The state of a scaler in the service. */
export interface ServiceView {
  /** Null: the service does not have the scaler. */
  readonly row: ScalerView | null;
  /** Whether a replica of the service leads. If not, `row` may be outdated. */
  readonly isLed: boolean;
}

export async function readView(client: ServiceClient, { namespace, name }: ScalerName): Promise<ServiceView> {
  const { rows, leader } = await client.listScalers(namespace);
  return { row: rows.find((row) => row.name === name) ?? null, isLed: leader };
}

/** Rejects with `CommandError` if no service answers. */
export function fetchView(
  { options, io, source: { namespace } }: AdoptContext,
  { name }: Pick<ScalerObject, 'name'>,
): Promise<ServiceView> {
  return withService(options, io, (client) => readView(client, { namespace, name }));
}

/**
 * Returns the condition that prevents the scaler from scaling; null: it can scale. `ScalingDisabled` (another client
 * has set the target to 0 replicas) prevents scaling, too, although it is no failure.
 */
export function whyUnable({ conditions }: Pick<ScalerView, 'conditions'>): string | null {
  const found = cannotScale(conditions) ?? conditions.find(({ reason }) => reason === 'ScalingDisabled');
  return found === undefined ? null : `${found.reason}: ${found.message}`;
}

/**
 * Returns why a metric had no complete value in the last decision, or why no metric was used; null: there is no
 * problem.
 */
export function whyNoValue(row: Pick<ScalerView, 'metrics' | 'reason'>): string | null {
  const isUnused = row.metrics.some(({ proposal }) => proposal === null);
  return whyLacking(row) ?? (isUnused ? `no metric was used: ${row.reason ?? ''}` : null);
}

/** Returns a warning about a metric without a value that the document reads as 0, as KEDA does; null: there is none. */
export function whyZero({ metrics }: Pick<ScalerView, 'metrics'>): string | null {
  const zero = metrics.find(({ readAsZero }) => readAsZero !== undefined);
  return zero === undefined
    ? null
    : `${zero.type} metric ${zero.metric}: ${zero.readAsZero ?? ''}, read as 0, as the document specifies. If the query is wrong, the workload does not scale up`;
}

/**
 * Returns why a metric had no value or only a partial value in the last decision; null: all values were complete. Even
 * a switch with `--force` requires complete values, because a partial value prevents scale-downs.
 */
export function whyLacking({ metrics }: Pick<ScalerView, 'metrics'>): string | null {
  for (const { type, metric, error, partial } of metrics) {
    if (error !== null) return `${type} metric ${metric} has no value: ${error}`;
    if (partial !== null) return `${type} metric ${metric} has a partial value: ${partial}`;
  }
  return null;
}
