import { countIn, instantIn, objectIn, textIn, textsIn, type JsonObject } from './api/json.js';
import { type WatchedObject, type ObjectStore, isOlder } from './watch/object-store.js';
import { isOfScaler } from '../scaler/annotations.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';
import type { Instant } from '../units/time.js';
import type { Transport } from './requests/transport.js';
import { KubernetesError } from './api/types.js';
import { resourceScope } from './watch/list-pages.js';
import { createReflector, type Reflector } from './watch/reflector.js';

export const SCALER_GROUP = 'promscaler.dev';
export const SCALER_PLURAL = 'scalers';
export const SCALER_ROOT = `/apis/${SCALER_GROUP}/v1`;

export interface ScalerObject extends WatchedObject {
  readonly uid: string;
  readonly generation: number;
  /** The `spec` as JSON, which is compared to detect a change of the document; empty: the object has none. */
  readonly specText: string;
  /** The annotations for promscaler as JSON. Default: empty, which means that there are none. */
  readonly annotationsText?: string;
  /** `metadata.labels` without validation. */
  readonly labels?: JsonObject | null;
  /** The creation time; null: unknown. */
  readonly createdAt: Instant | null;
  /** The status without validation; null: none was written yet. */
  readonly status: JsonObject | null;
}

/** Returns null if the object has no name, uid, resourceVersion or generation. */
export function readScalerObject(object: JsonObject): ScalerObject | null {
  const metadata = objectIn(object, 'metadata');
  const [namespace, name] = [textIn(metadata, 'namespace'), textIn(metadata, 'name')];
  const [uid, resourceVersion] = [textIn(metadata, 'uid'), textIn(metadata, 'resourceVersion')];
  const generation = countIn(metadata, 'generation');
  if (namespace === null || name === null || uid === null || resourceVersion === null || generation === null)
    return null;
  const spec = Object.hasOwn(object, 'spec') ? object['spec'] : undefined;
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    specText: spec === undefined ? '' : writeSpec(spec),
    ...annotationsOf(metadata),
    labels: objectIn(metadata, 'labels'),
    createdAt: instantIn(metadata, 'creationTimestamp'),
    status: objectIn(object, 'status'),
  };
}

function annotationsOf(metadata: JsonObject | null): Pick<ScalerObject, 'annotationsText'> {
  const own = Object.entries(textsIn(metadata, 'annotations')).filter(([key]) => isOfScaler(key));
  return own.length === 0 ? {} : { annotationsText: JSON.stringify(Object.fromEntries(own)) };
}

/**
 * Returns a `spec` as JSON. JSON.stringify overflows the stack on thousands of levels, which JSON.parse accepts. Such a
 * `spec` becomes another string, so that one object does not fail the whole list.
 */
function writeSpec(spec: unknown): string {
  try {
    return JSON.stringify(spec);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify('nested too deeply');
  }
}

/** The last known Scaler objects. They stay while the watch fails. */
export interface ScalerStore {
  /** One scope for each watched namespace, or a single one for the whole cluster. */
  readonly scopes: readonly ScalerScope[];
  readonly list: () => Iterable<ScalerObject>;
  readonly get: (namespace: string, name: string) => ScalerObject | null;
  /** Returns whether every scope has been listed, so that an object that is missing here does not exist. */
  readonly isComplete: () => boolean;
  /** Stores the object in the response to a write, before the watch reports it. */
  readonly remember: (object: ScalerObject) => void;
  /**
   * Calls `listener` when a document is added, changed or deleted, and after the first list of a scope. A change
   * outside of `spec` and the annotations for promscaler is not reported. Returns a function that unsubscribes.
   */
  readonly onChange: (listener: () => void) => () => void;
}

interface ScalerScope {
  readonly namespace: string | null;
  readonly store: ObjectStore<ScalerObject>;
  readonly isListed: () => boolean;
}

/** Creates a store for the watched `namespaces`; empty: all. */
export function createScalerStore(namespaces: readonly string[]): ScalerStore {
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const wanted = namespaces.length === 0 ? [null] : [...new Set(namespaces)];
  const scopes = wanted.map((namespace) => createScope(namespace, notify));
  const scopeOf = (namespace: string): Scope | undefined =>
    scopes.find((scope) => scope.namespace === null || scope.namespace === namespace);
  return {
    scopes,
    list: function* () {
      for (const scope of scopes) yield* scope.values();
    },
    get: (namespace, name) => scopeOf(namespace)?.store.get(namespace, name) ?? null,
    isComplete: () => scopes.every((scope) => scope.isListed()),
    remember: (object) => {
      const store = scopeOf(object.namespace)?.store;
      const known = store?.get(object.namespace, object.name);
      if (known?.uid === object.uid && isOlder(known.resourceVersion, object.resourceVersion))
        store?.put(object);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Scope extends ScalerScope {
  readonly values: () => Iterable<ScalerObject>;
}

function createScope(namespace: string | null, notify: () => void): Scope {
  let objects = new Map<string, ScalerObject>();
  let isListed = false;
  const isSameDocument = (key: string, { specText, annotationsText }: ScalerObject): boolean => {
    const known = objects.get(key);
    return known?.specText === specText && known.annotationsText === annotationsText;
  };
  return {
    namespace,
    isListed: () => isListed,
    values: () => objects.values(),
    store: {
      get: (of, name) => objects.get(`${of}/${name}`),
      replace: (all) => {
        const next = new Map(all.map((object) => [keyOf(object), object]));
        const isSame =
          isListed &&
          next.size === objects.size &&
          [...next].every(([key, object]) => isSameDocument(key, object));
        objects = next;
        isListed = true;
        if (!isSame) notify();
      },
      put: (object) => {
        const isSame = isSameDocument(keyOf(object), object);
        objects.set(keyOf(object), object);
        if (!isSame) notify();
      },
      remove: (of, name) => {
        if (objects.delete(`${of}/${name}`)) notify();
      },
    },
  };
}

function keyOf({ namespace, name }: ScalerObject): string {
  return `${namespace}/${name}`;
}

export interface ScalerWatch {
  /** Lists and watches until `signal` is aborted. Keeps retrying after a failure, which it logs once. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly isSettled: () => boolean;
}

interface ScalerWatchOptions {
  readonly store: ScalerStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

export function createScalerWatch({ store, ...ports }: ScalerWatchOptions): ScalerWatch {
  const reflectors: readonly Reflector[] = store.scopes.map((scope) =>
    createReflector({
      ...ports,
      scope: resourceScope(SCALER_ROOT, SCALER_PLURAL, scope.namespace),
      store: scope.store,
      convert: readScalerObject,
      fixFor: fixForScalerWatch,
    }),
  );
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
    isSettled: () => reflectors.every((reflector) => reflector.isSynced() || reflector.failure() !== null),
  };
}

export function fixForScalerWatch({ kind }: Pick<KubernetesError, 'kind'>): string | null {
  switch (kind) {
    case 'not_found':
      return 'the CRD scalers.promscaler.dev is not installed: set the chart value crd.enabled: true, or scalers.customResources: false; listing is retried every few minutes';
    case 'forbidden':
      return 'set the chart values crd.enabled: true and rbac.create: true (list and watch of scalers in promscaler.dev); listing is retried every few minutes';
    default:
      return null;
  }
}

const STATUS_WRITE_MS = 10_000;

/**
 * Sends one merge-patch of the status of a Scaler object and returns the response. Throws `KubernetesError`: `conflict`
 * if the object has changed or was recreated. Repeats the request only after a lost connection.
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
    path: `${SCALER_ROOT}/namespaces/${encodeURIComponent(namespace)}/${SCALER_PLURAL}/${encodeURIComponent(name)}/status`,
    query: { fieldManager: 'promscaler' },
    body: { metadata: { uid, resourceVersion }, status },
    isRepeatable: true,
    doing,
    verb: 'patch',
    resource: `${SCALER_PLURAL}/status`,
    deadlineMs: STATUS_WRITE_MS,
    signal,
  });
  const written = readScalerObject(answer);
  if (written === null) throw new KubernetesError('bad_answer', `${doing}: the response is not a scaler`);
  return written;
}
