import { parseInstant, type Instant } from '../../units/time.js';
import { objectIn, textIn, textsIn, type JsonObject } from '../json.js';
import type { Transport } from '../requests/transport.js';
import { KubernetesError, type KubernetesErrorKind } from '../types.js';

/** One ConfigMap that holds state, and how it is reached. */
export interface StateMapPlace {
  readonly transport: Transport;
  readonly namespace: string;
  readonly name: string;
}

/** A ConfigMap of state as it was read. */
export interface StateMap {
  readonly resourceVersion: string;
  /** Null where the server does not say. */
  readonly createdAt: Instant | null;
  readonly data: Readonly<Record<string, string>>;
}

/** Entries to set (null: to remove) where the ConfigMap still has `resourceVersion`. */
export interface StateMapChange {
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string | null>>;
}

/** D of W10: what has not been written by then is of no use any more. */
export const STATE_WRITE_MS = 5000;
const READ_MS = 5000;

/** Reads a ConfigMap of state. */
export async function readStateMap(place: StateMapPlace): Promise<StateMap> {
  const doing = `reading ${label(place)}`;
  const answer = await place.transport.request({
    lane: 'read',
    method: 'GET',
    path: pathOf(place),
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
 * Sets entries (null: removes them) where the ConfigMap still has `resourceVersion`, else `conflict`. Never sent again:
 * after a timeout it may have been done all the same. Gives the new resourceVersion.
 */
export async function patchStateMap(
  place: StateMapPlace,
  { resourceVersion, data }: StateMapChange,
): Promise<string> {
  const doing = `writing ${label(place)}`;
  const answer = await place.transport.request({
    lane: 'write',
    method: 'PATCH',
    path: pathOf(place),
    query: { fieldManager: 'promscaler' },
    body: { metadata: { resourceVersion }, data },
    doing,
    verb: 'patch',
    resource: 'configmaps',
    deadlineMs: STATE_WRITE_MS,
  });
  return versionIn(answer, doing);
}

/** What a failure means for those who run the service, and what mends it. */
export function explainStateFailure(
  { kind, message }: KubernetesError,
  { namespace, name }: Pick<StateMapPlace, 'namespace' | 'name'>,
  verb: 'get' | 'patch',
): string {
  const advice: Partial<Record<KubernetesErrorKind, string>> = {
    not_found: `there is no ConfigMap ${name} in namespace ${namespace}: the chart makes promscaler-state-00 to -15`,
    forbidden: `the service account needs ${verb} on ConfigMap ${name} in namespace ${namespace}`,
  };
  const advised = advice[kind];
  return advised === undefined ? message : `${advised} (${message})`;
}

function pathOf({ namespace, name }: StateMapPlace): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
}

function label({ namespace, name }: StateMapPlace): string {
  return `ConfigMap ${namespace}/${name}`;
}

function versionIn(answer: JsonObject, doing: string): string {
  const version = textIn(objectIn(answer, 'metadata'), 'resourceVersion') ?? '';
  if (textIn(answer, 'kind') !== 'ConfigMap' || version === '')
    throw new KubernetesError('bad_answer', `${doing}: the answer is no ConfigMap`);
  return version;
}
