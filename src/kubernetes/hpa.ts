import { countIn, objectIn, objectsIn, textIn, type JsonObject } from './api/json.js';
import type { KubernetesError, OtherScaler } from './api/types.js';
import type { Transport } from './requests/transport.js';
import { listAll, resourceScope } from './watch/list-pages.js';
import type { JsonFields } from './requests/prune-json.js';
import { cleanText } from '../units/clean-text.js';
import { createObjectStore, type ObjectStore, type WatchedObject } from './watch/object-store.js';

export const HPA_ROOT = '/apis/autoscaling/v2';
export const HPA_PLURAL = 'horizontalpodautoscalers';

export const HPA_FIELDS: JsonFields = {
  metadata: { name: true, namespace: true, resourceVersion: true, ownerReferences: true },
  spec: { scaleTargetRef: true },
  status: {
    desiredReplicas: true,
    lastScaleTime: true,
    currentMetrics: { type: true },
    conditions: { type: true, status: true, reason: true, message: true },
  },
};

/** An HPA. If a ScaledObject owns the HPA, `scaler` names the ScaledObject. */
export interface WatchedHpa extends WatchedObject {
  readonly scaler: OtherScaler;
}

/** Returns null if the HPA has no target. */
export function readWatchedHpa(object: JsonObject): WatchedHpa | null {
  const scaler = readHorizontalPodAutoscaler(object);
  if (scaler === null) return null;
  const metadata = objectIn(object, 'metadata');
  return {
    namespace: scaler.namespace,
    name: textIn(metadata, 'name') ?? '',
    resourceVersion: textIn(metadata, 'resourceVersion') ?? '',
    scaler,
  };
}

export interface HpaStore extends ObjectStore<WatchedHpa> {
  /** Returns the HPAs of a namespace. It is the same array until one of them changes. */
  readonly of: (namespace: string) => readonly OtherScaler[];
}

const NONE: readonly OtherScaler[] = [];

/** Creates the store of the watched HPAs. `onRemoved` is called when the watch reports that an HPA was deleted. */
export function createHpaStore(onRemoved: (hpa: OtherScaler) => void = () => undefined): HpaStore {
  const store = createObjectStore<WatchedHpa>();
  const lists = new Map<string, readonly OtherScaler[]>();
  return {
    get: store.get,
    replace: (all) => {
      lists.clear();
      store.replace(all);
    },
    put: (hpa) => {
      lists.delete(hpa.namespace);
      store.put(hpa);
    },
    remove: (namespace, name) => {
      lists.delete(namespace);
      const removed = store.get(namespace, name);
      store.remove(namespace, name);
      if (removed !== undefined) onRemoved(removed.scaler);
    },
    of: (namespace) => {
      const known = lists.get(namespace);
      if (known !== undefined) return known;
      const hpas = store.listIn(namespace);
      if (hpas.length === 0) return NONE;
      const list = hpas.map(({ scaler }) => scaler);
      lists.set(namespace, list);
      return list;
    },
  };
}

/** Lists the HPAs of a namespace with live requests; `namespace` null: of all namespaces. Throws `KubernetesError`. */
export async function listHpas(
  transport: Transport,
  namespace: string | null,
  signal: AbortSignal,
): Promise<readonly OtherScaler[]> {
  const scope = resourceScope(HPA_ROOT, HPA_PLURAL, namespace);
  const { items } = await listAll({ transport, scope, convert: readHorizontalPodAutoscaler, signal });
  return items;
}

/**
 * Returns whether a failure of the first list means that a namespace has no HPAs: listing HPAs is forbidden, or they
 * are not served. After any other failure there may be HPAs, so nothing is patched. Source: reliability.md, section 1.
 */
export function meansNoHpas({ kind }: KubernetesError): boolean {
  return kind === 'forbidden' || kind === 'not_found';
}

/**
 * Returns the autoscaler of a target: the HPA or the ScaledObject that owns it, because the owner is the object to
 * delete. Null: the HPA has no target.
 */
export function readHorizontalPodAutoscaler(object: JsonObject): OtherScaler | null {
  const metadata = objectIn(object, 'metadata');
  const namespace = textIn(metadata, 'namespace') ?? '';
  const name = textIn(metadata, 'name') ?? '';
  const target = objectIn(objectIn(object, 'spec'), 'scaleTargetRef');
  const kind = textIn(target, 'kind') ?? '';
  const targetName = textIn(target, 'name') ?? '';
  if (namespace === '' || name === '' || kind === '' || targetName === '') return null;
  const owner = objectsIn(metadata, 'ownerReferences').find((reference) => reference['controller'] === true);
  const ownerKind = owner === undefined ? null : textIn(owner, 'kind');
  const ownerName = owner === undefined ? null : textIn(owner, 'name');
  return {
    kind: ownerKind ?? 'HorizontalPodAutoscaler',
    namespace,
    name: ownerName ?? name,
    target: { apiVersion: textIn(target, 'apiVersion') ?? '', kind, name: targetName },
    ...readCount(objectIn(object, 'status')),
  };
}

const MOST_CHARACTERS = 300;

/** The `whyNoCount` of an HPA that was just created. */
export const NOT_SET_YET = 'the HPA controller has not set them yet';

/**
 * Returns the desired replicas of an HPA, or why it has none. `status.desiredReplicas` alone does not show this: it is
 * 0 before the first computation, and stays the same while the metrics fail or the target cannot be scaled.
 */
function readCount(status: JsonObject | null): Pick<OtherScaler, 'desiredReplicas' | 'whyNoCount'> {
  const failing = objectsIn(status, 'conditions').find(
    (condition) => NEEDED.has(textIn(condition, 'type') ?? '') && textIn(condition, 'status') !== 'True',
  );
  if (failing !== undefined) {
    const text = `${textIn(failing, 'reason') ?? ''}: ${textIn(failing, 'message') ?? ''}`;
    return { whyNoCount: cleanText(text).slice(0, MOST_CHARACTERS) };
  }
  const desired = countIn(status, 'desiredReplicas');
  const isFirst = desired === null || (desired === 0 && textIn(status, 'lastScaleTime') === null);
  if (isFirst) return { whyNoCount: NOT_SET_YET };
  if (status?.['currentMetrics'] === null) return { whyNoCount: 'its status has no current metrics' };
  return { desiredReplicas: desired };
}

/** The conditions without which an HPA does not scale. */
const NEEDED: ReadonlySet<string> = new Set(['AbleToScale', 'ScalingActive']);
