import { type JsonObject, countIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import type { ExitCode } from '../process/io.js';
import { createServiceClient } from '../reach/service-client.js';
import { type AdoptContext, type ScalerObject, nameScaler, pollFor, workloadOf } from './adoption.js';
import { commandFor } from './adopt-options.js';
import { readRow } from './agreement.js';

/** The service sees the new generation and the deletion of the HPA at once, and decides within a sync period. */
const CONFIRM_MS = 90_000;

/** Waits until the service scales the workload. Returns 1 if it does not. */
export async function confirmService(
  context: AdoptContext,
  scaler: ScalerObject,
  wanted: { readonly isDryRun: boolean },
): Promise<ExitCode> {
  const { io, source } = context;
  const undo = commandFor('--undo', source, context);
  let last: JsonObject | null = null;
  const client = await createServiceClient(context.options, io);
  try {
    const view = await pollFor(io, CONFIRM_MS, async () => {
      last = await readRow(client, { namespace: source.namespace, name: scaler.name });
      return last !== null && last['dryRun'] === wanted.isDryRun && conflictOf(last) === null ? last : null;
    });
    if (view !== null) {
      const count = countIn(view, 'currentReplicas');
      const replicas = count === null ? '' : `, now ${count} replicas`;
      io.stdout.write(`promscaler scales ${workloadOf(context, scaler)}${replicas}\nWay back: ${undo}\n`);
      return 0;
    }
  } finally {
    client.close();
  }
  io.stderr.write(
    `promscaler: ${nameScaler(context, scaler)} does not scale ${workloadOf(context, scaler)} yet: ${whyNot(last)}. See promscaler status -n ${source.namespace}; the way back is ${undo}\n`,
  );
  return 1;
}

function conflictOf(view: JsonObject): string | null {
  const held =
    objectsIn(view, 'conditions').find((condition) => textIn(condition, 'type') === 'Held') ?? null;
  const isConflict = textIn(held, 'status') === 'True' && textIn(held, 'reason') === 'ConflictingScaler';
  return isConflict ? textIn(held, 'message') : null;
}

function whyNot(view: JsonObject | null): string {
  if (view === null) return 'the service does not have it';
  return view['dryRun'] === true
    ? 'it is still in dry run; a service with --dry-run scales nothing'
    : (conflictOf(view) ?? '');
}
