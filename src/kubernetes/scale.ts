import type { LabelSelector } from '../scaler/spec.js';
import { countIn, objectIn, textIn, type JsonObject } from './json.js';
import { parseSelector } from './pods/selectors.js';
import { nameTarget } from './targets.js';
import { KubernetesError, type Scale } from './types.js';
import { workloadPath, type WorkloadPlace } from './workload.js';
import { MAX_REPLICAS } from '../units/replicas.js';

/** A `/scale` with its selector, as kinds have it that are not watched. */
export interface ScaleWithSelector extends Scale {
  /** Null where it is missing or cannot be read. */
  readonly selector: LabelSelector | null;
}

const DEADLINE_MS = 10_000;

/** A live GET of `/scale`. */
export async function getScale(place: WorkloadPlace): Promise<ScaleWithSelector> {
  const doing = `reading scale of ${nameTarget(place.namespace, place.ref)}`;
  const answer = await place.transport.request({
    lane: 'read',
    method: 'GET',
    path: `${workloadPath(place)}/scale`,
    doing,
    verb: 'get',
    resource: `${place.kind.plural}/scale`,
    deadlineMs: DEADLINE_MS,
    signal: place.signal,
  });
  return readScale(answer, doing);
}

/**
 * One merge-patch of `/scale`, refused by the server (`conflict`) where uid or resourceVersion are others. Never sent
 * again: after a `timeout`, a `connection` failure or a 5xx it may have been done all the same. `replicas` that is no
 * integer from 0 to 2^31-1 is a plain `Error`, and nothing is sent. Source: reliability.md, W1 and W6.
 */
export async function patchScale(
  place: WorkloadPlace,
  change: { readonly uid: string; readonly resourceVersion: string; readonly replicas: number },
): Promise<ScaleWithSelector> {
  const { uid, resourceVersion, replicas } = change;
  const doing = `scaling ${nameTarget(place.namespace, place.ref)} to ${replicas}`;
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > MAX_REPLICAS)
    throw new Error(`${doing}: replicas must be an integer from 0 to ${MAX_REPLICAS}`);
  if (uid === '' || resourceVersion === '')
    throw new Error(`${doing}: uid and resourceVersion must be given`);
  const answer = await place.transport.request({
    lane: 'write',
    method: 'PATCH',
    path: `${workloadPath(place)}/scale`,
    query: { fieldManager: 'promscaler' },
    body: { metadata: { uid, resourceVersion }, spec: { replicas } },
    doing,
    verb: 'patch',
    resource: `${place.kind.plural}/scale`,
    deadlineMs: DEADLINE_MS,
    signal: place.signal,
  });
  return readScale(answer, doing);
}

/** `spec.replicas` is left out of a `/scale` when it is 0. */
function readScale(answer: JsonObject, doing: string): ScaleWithSelector {
  const metadata = objectIn(answer, 'metadata');
  const uid = textIn(metadata, 'uid') ?? '';
  const resourceVersion = textIn(metadata, 'resourceVersion') ?? '';
  const spec = objectIn(answer, 'spec');
  const isReplicasWrong = spec?.['replicas'] !== undefined && countIn(spec, 'replicas') === null;
  if (textIn(answer, 'kind') !== 'Scale' || uid === '' || resourceVersion === '' || isReplicasWrong)
    throw new KubernetesError('bad_answer', `${doing}: the answer is no Scale`);
  const status = objectIn(answer, 'status');
  const selector = textIn(status, 'selector');
  return {
    uid,
    resourceVersion,
    specReplicas: countIn(spec, 'replicas') ?? 0,
    statusReplicas: countIn(status, 'replicas') ?? 0,
    selector: selector === null ? null : parseSelector(selector),
  };
}
