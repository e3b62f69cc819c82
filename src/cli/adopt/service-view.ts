import { isFailing } from '../../decision/failing.js';
import { type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import type { ScalerView } from '../../api/answers.js';
import type { ServiceClient } from '../reach/service-client.js';
import type { ScalerName } from '../reach/service-pages.js';

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

/** Returns the message of a pause, which the document or annotations may contain; null: there is no pause. */
export function whyPaused(row: JsonObject): string | null {
  const pause = objectIn(row, 'pause');
  return pause === null ? null : (textIn(pause, 'message') ?? 'it is paused');
}

/** Returns `REASON: MESSAGE` of a condition. */
export function conditionText(condition: JsonObject): string {
  return `${textIn(condition, 'reason') ?? ''}: ${textIn(condition, 'message') ?? ''}`;
}

/** Returns the condition that prevents the scaler from scaling; null: it can scale. */
export function whyUnable(row: JsonObject): string | null {
  const found = objectsIn(row, 'conditions').find((condition) => {
    const [type, status] = [textIn(condition, 'type') ?? '', textIn(condition, 'status') ?? ''];
    const isAbout = type === 'AbleToScale' || type === 'ScalingActive';
    return isAbout && isFailing({ type, status, reason: textIn(condition, 'reason') ?? '' });
  });
  return found === undefined ? null : conditionText(found);
}

/** Returns why a metric had no complete value in the last decision; null: each metric had one. */
export function whyNoValue(row: JsonObject): string | null {
  const isUnused = objectsIn(row, 'metrics').some((metric) => metric['proposal'] === null);
  const unused = isUnused ? `no metric was used: ${textIn(row, 'reason') ?? ''}` : null;
  return whyLacking(row) ?? unused;
}

/**
 * Returns why a metric had no value, or only a partial one, in the last decision; null: each metric had a complete
 * value. Unused metrics are ignored. A partial value prevents scale-downs, so that even a switch with `--force`
 * requires complete values.
 */
export function whyLacking(row: JsonObject): string | null {
  for (const metric of objectsIn(row, 'metrics')) {
    const name = `${textIn(metric, 'type') ?? ''} metric ${textIn(metric, 'metric') ?? ''}`;
    const error = textIn(metric, 'error');
    if (error !== null) return `${name} has no value: ${error}`;
    const partial = textIn(metric, 'partial');
    if (partial !== null) return `${name} has a partial value: ${partial}`;
  }
  return null;
}
