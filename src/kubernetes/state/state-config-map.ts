import { type Instant, parseInstant } from '../../units/time.js';
import { objectIn, textIn, textsIn, type JsonObject } from '../api/json.js';
import type { Transport } from '../requests/transport.js';
import { KubernetesError, type KubernetesErrorKind } from '../api/types.js';

export interface StateMapAccess {
  readonly transport: Transport;
  readonly namespace: string;
  readonly name: string;
}

export interface StateMap {
  readonly resourceVersion: string;
  readonly createdAt: Instant | null;
  readonly data: Readonly<Record<string, string>>;
}

/** A change of entries; null removes an entry. Precondition: the ConfigMap still has this `resourceVersion`. */
export interface StateMapChange {
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string | null>>;
}

/**
 * Deadline of a write. After a longer write, the intent would be too old for its PATCH. Source: reliability.md, W10.
 */
export const STATE_WRITE_MS = 5000;
const READ_MS = 5000;

export async function readStateMap(access: StateMapAccess): Promise<StateMap> {
  const doing = `reading ${label(access)}`;
  const answer = await access.transport.request({
    lane: 'read',
    path: pathOf(access),
    doing,
    verb: 'get',
    resource: 'configmaps',
    deadlineMs: READ_MS,
  });
  const metadata = objectIn(answer, 'metadata');
  return {
    resourceVersion: versionIn(answer, doing),
    createdAt: parseInstant(textIn(metadata, 'creationTimestamp') ?? ''),
    data: textsIn(answer, 'data'),
  };
}

/**
 * Sends one merge-patch and returns the new resourceVersion. Throws `KubernetesError`: `conflict` if the ConfigMap has
 * changed. Never retries, because after a timeout the write may have been made.
 */
export async function patchStateMap(
  access: StateMapAccess,
  { resourceVersion, data }: StateMapChange,
): Promise<string> {
  const doing = `writing ${label(access)}`;
  const answer = await access.transport.request({
    lane: 'write',
    path: pathOf(access),
    query: { fieldManager: 'promscaler' },
    body: { metadata: { resourceVersion }, data },
    doing,
    verb: 'patch',
    resource: 'configmaps',
    deadlineMs: STATE_WRITE_MS,
  });
  return versionIn(answer, doing);
}

export function explainStateFailure(
  { kind, message }: KubernetesError,
  { namespace, name }: Pick<StateMapAccess, 'namespace' | 'name'>,
  verb: 'get' | 'patch',
): string {
  const advice: Partial<Record<KubernetesErrorKind, string>> = {
    not_found: `ConfigMap ${name} does not exist in namespace ${namespace}; the chart creates promscaler-state-00 to -15`,
    forbidden: `the service account needs permission to ${verb} ConfigMap ${name} in namespace ${namespace}`,
  };
  const advised = advice[kind];
  return advised === undefined ? message : `${advised} (${message})`;
}

function pathOf({ namespace, name }: StateMapAccess): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
}

function label({ namespace, name }: StateMapAccess): string {
  return `ConfigMap ${namespace}/${name}`;
}

function versionIn(answer: JsonObject, doing: string): string {
  const version = textIn(objectIn(answer, 'metadata'), 'resourceVersion') ?? '';
  if (textIn(answer, 'kind') !== 'ConfigMap' || version === '')
    throw new KubernetesError('bad_answer', `${doing}: the response is not a ConfigMap`);
  return version;
}
