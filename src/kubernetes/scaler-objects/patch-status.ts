import type { JsonObject } from '../api/json.js';
import type { Transport } from '../requests/transport.js';
import { KubernetesError } from '../api/types.js';
import { readScalerObject, SCALER_PLURAL, SCALER_ROOT, type ScalerObject } from './scaler-object.js';

const DEADLINE_MS = 10_000;

/**
 * Sends one merge-patch of the status of a Scaler object and returns the response. Throws `KubernetesError`: `conflict`
 * if the object has changed or was recreated. Never retries.
 */
export async function patchScalerStatus(
  transport: Transport,
  { object, status }: { readonly object: ScalerObject; readonly status: JsonObject },
  signal: AbortSignal,
): Promise<ScalerObject> {
  const { namespace, name, uid, resourceVersion } = object;
  const doing = `writing the status of scaler ${namespace}/${name}`;
  const answer = await transport.request({
    lane: 'status',
    method: 'PATCH',
    path: `${SCALER_ROOT}/namespaces/${encodeURIComponent(namespace)}/${SCALER_PLURAL}/${encodeURIComponent(name)}/status`,
    query: { fieldManager: 'promscaler' },
    body: { metadata: { uid, resourceVersion }, status },
    doing,
    verb: 'patch',
    resource: `${SCALER_PLURAL}/status`,
    deadlineMs: DEADLINE_MS,
    signal,
  });
  const written = readScalerObject(answer);
  if (written === null) throw new KubernetesError('bad_answer', `${doing}: the response is not a scaler`);
  return written;
}
