import { type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import type { ServiceClient } from '../reach/service-client.js';
import type { ScalerName } from '../reach/service-pages.js';

/** What the service says about a scaler. */
export interface ServiceView {
  /** Null: the service does not have it. */
  readonly row: JsonObject | null;
  /** Whether a replica leads, so that the row is current. */
  readonly isLed: boolean;
}

export async function readView(client: ServiceClient, { namespace, name }: ScalerName): Promise<ServiceView> {
  const { rows, leader } = await client.listScalers(namespace);
  return { row: rows.find((row) => row.name === name)?.view ?? null, isLed: leader !== false };
}

/** Returns the message of a pause by the document or by annotations; null: there is none. */
export function whyPaused(row: JsonObject): string | null {
  const pause = objectIn(row, 'pause');
  return pause === null ? null : (textIn(pause, 'message') ?? 'it is paused');
}

/** Windows end without help, and a target at 0 is left alone by an HPA, too. */
const STILL_ABLE = ['BackoffUpscale', 'BackoffDownscale', 'BackoffBoth', 'ScalingDisabled'];

/** Returns the condition that says that the scaler cannot scale; null: it can. */
export function whyUnable(row: JsonObject): string | null {
  const found = objectsIn(row, 'conditions').find(
    (condition) =>
      ['AbleToScale', 'ScalingActive'].includes(textIn(condition, 'type') ?? '') &&
      textIn(condition, 'status') === 'False' &&
      !STILL_ABLE.includes(textIn(condition, 'reason') ?? ''),
  );
  return found === undefined ? null : `${textIn(found, 'reason') ?? ''}: ${textIn(found, 'message') ?? ''}`;
}

/** Returns why a metric had no full value in the last decision; null: each one had. `isForced`: any value suffices. */
export function whyNoValue(row: JsonObject, { isForced }: { readonly isForced: boolean }): string | null {
  const metrics = objectsIn(row, 'metrics');
  for (const metric of metrics) {
    const name = `${textIn(metric, 'type') ?? ''} metric ${textIn(metric, 'metric') ?? ''}`;
    const error = textIn(metric, 'error');
    if (error !== null) return `${name} has no value: ${error}`;
    const partial = textIn(metric, 'partial');
    if (partial !== null && !isForced) return `${name} has a partial value: ${partial}`;
  }
  const isUnused = metrics.some((metric) => metric['proposal'] === null);
  return isUnused && !isForced ? `no metric was used: ${textIn(row, 'reason') ?? ''}` : null;
}
