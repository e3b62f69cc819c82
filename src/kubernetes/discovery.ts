import type { Clock } from '../units/clock.js';
import type { TargetRef } from '../scaler/spec.js';
import { objectIn, objectsIn, textIn, type JsonObject } from './api/json.js';
import { APPS_ROOT, groupOf, watchedPlural } from './targets.js';
import type { Transport } from './requests/transport.js';
import { KubernetesError } from './api/types.js';

export interface ScalableKind {
  /** The API path, such as `/apis/argoproj.io/v1alpha1`. */
  readonly root: string;
  /** The plural name, such as `rollouts`. */
  readonly plural: string;
}

export interface Discovery {
  /**
   * Finds a kind by its group and name, whatever the version. Throws `KubernetesError`: `not_found` if the server does
   * not serve the kind, `invalid` if the kind has no scale subresource.
   */
  readonly find: (ref: TargetRef, signal: AbortSignal) => Promise<ScalableKind>;
  /** Marks a result as possibly outdated: the next `find` repeats the discovery, but at most every 30 s. */
  readonly doubt: (ref: TargetRef) => void;
}

const DEADLINE_MS = 10_000;
const REFRESH_MS = 30_000;
/** Limits the cached results, because documents may name any number of kinds that do not exist. */
const MAX_KINDS = 1000;

interface Entry {
  readonly atMs: number;
  readonly result: Promise<ScalableKind>;
}

/**
 * Creates a discovery that looks up each kind once. If a kind is missing, the lookup is repeated, at most every 30 s.
 */
export function createDiscovery(transport: Transport, clock: Clock): Discovery {
  const entries = new Map<string, Entry>();

  const look = (key: string, ref: TargetRef): Promise<ScalableKind> => {
    // Aborting the signal of the caller does not cancel the lookup, because other callers may wait for the same result.
    const result = findKind(transport, ref);
    const entry = { atMs: clock.monotonicMs(), result };
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_KINDS && oldest !== undefined) {
      entries.delete(oldest);
      expiring.delete(oldest);
    }
    result.catch((error: unknown) => {
      const isAnswer = error instanceof KubernetesError && ['not_found', 'invalid'].includes(error.kind);
      if (!isAnswer && entries.get(key) === entry) entries.delete(key);
      else if (entries.get(key) === entry) expiring.add(key);
    });
    return result;
  };
  const expiring = new Set<string>();

  return {
    find: (ref) => {
      const plural = watchedPlural(ref);
      if (plural !== null) return Promise.resolve({ root: APPS_ROOT, plural });
      const key = `${groupOf(ref)}/${ref.kind}`;
      const known = entries.get(key);
      const isOld = known !== undefined && clock.monotonicMs() - known.atMs >= REFRESH_MS;
      if (known !== undefined && !(isOld && expiring.has(key))) return known.result;
      expiring.delete(key);
      return look(key, ref);
    },
    doubt: (ref) => {
      const key = `${groupOf(ref)}/${ref.kind}`;
      if (entries.has(key)) expiring.add(key);
    },
  };
}

async function findKind(transport: Transport, ref: TargetRef): Promise<ScalableKind> {
  const group = groupOf(ref);
  if (ref.kind === 'DaemonSet')
    throw new KubernetesError(
      'invalid',
      `finding kind DaemonSet: a DaemonSet runs one pod per node and has no replicas to scale`,
      { unusableKind: NOT_SCALABLE },
    );
  const roots = group === '' ? ['/api/v1'] : await groupRoots(transport, ref, group);
  const kinds = new Set<string>();
  for (const root of roots) {
    const resources = objectsIn(await request(transport, root, ref), 'resources');
    const scalable = pickKind(resources, ref, root);
    if (scalable !== null) return scalable;
    for (const resource of resources) kinds.add(textIn(resource, 'kind') ?? '');
  }
  const others = [...kinds].filter((kind) => kind !== '').sort();
  const has = others.length === 0 ? 'no kinds' : others.join(', ');
  throw notServed(ref, `the group has ${has}`, { isGroupServed: true });
}

function pickKind(resources: readonly JsonObject[], ref: TargetRef, root: string): ScalableKind | null {
  const names = resources.map((resource) => textIn(resource, 'name') ?? '');
  const resource = resources.find(
    (candidate) =>
      textIn(candidate, 'kind') === ref.kind && textIn(candidate, 'name')?.includes('/') === false,
  );
  const plural = resource === undefined ? null : textIn(resource, 'name');
  if (resource === undefined || plural === null) return null;
  const unscalable = (why: string): KubernetesError =>
    new KubernetesError(
      'invalid',
      `finding kind ${ref.kind}: ${root.replace(/^\/apis?\//, '')} ${ref.kind} ${why}`,
      { unusableKind: NOT_SCALABLE },
    );
  if (resource['namespaced'] !== true) throw unscalable('is cluster-scoped, so a scaler cannot refer to it');
  if (!names.includes(`${plural}/scale`))
    throw unscalable('has no scale subresource, so it cannot be scaled');
  return { root, plural };
}

async function groupRoots(transport: Transport, ref: TargetRef, group: string): Promise<readonly string[]> {
  const path = `/apis/${encodeURIComponent(group)}`;
  const answer = await request(transport, path, ref);
  const preferred = textIn(objectIn(answer, 'preferredVersion'), 'version');
  const versions = objectsIn(answer, 'versions').map((version) => textIn(version, 'version') ?? '');
  const ordered = new Set([
    ...(preferred === null ? [] : [preferred]),
    ...versions.filter((version) => version !== ''),
  ]);
  return [...ordered].map((version) => `${path}/${encodeURIComponent(version)}`);
}

async function request(transport: Transport, path: string, ref: TargetRef): Promise<JsonObject> {
  try {
    return await transport.request({
      lane: 'list',
      path,
      doing: `finding kind ${ref.kind} of ${ref.apiVersion}`,
      verb: 'get',
      resource: 'discovery',
      deadlineMs: DEADLINE_MS,
    });
  } catch (error) {
    if (error instanceof KubernetesError && error.kind === 'not_found')
      throw notServed(ref, 'the cluster does not serve this API group', { isGroupServed: false });
    throw error;
  }
}

/** The cluster serves the kind, but its objects have no replicas that a scaler can set. */
const NOT_SCALABLE = { group: null, isGroupServed: true };

function notServed(
  ref: TargetRef,
  why: string,
  { isGroupServed }: { readonly isGroupServed: boolean },
): KubernetesError {
  const isWorkload = ['Deployment', 'StatefulSet', 'ReplicaSet'].includes(ref.kind);
  const hint = isWorkload ? `; ${ref.kind} is in apps/v1` : '';
  return new KubernetesError(
    'not_found',
    `finding kind ${ref.kind} in API group "${groupOf(ref)}" (${ref.apiVersion}): ${why}${hint}`,
    { status: 404, unusableKind: { group: groupOf(ref), isGroupServed } },
  );
}
