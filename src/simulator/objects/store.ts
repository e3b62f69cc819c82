import type { Clock } from '../../units/clock.js';
import { type KubeObject, keyOf, namespaceOf, withMetadata } from './kube-object.js';
import type { Random } from './names.js';
import type { Catalog } from './resources.js';

/** How long changes are kept: 5 minutes, like the interval at which a real API server compacts etcd. */
const HISTORY_MS = 300_000;
const HISTORY_CHANGES = 20_000;

export interface Change {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  /** The object before the change; null: the object is new. */
  readonly previous: KubeObject | null;
  readonly atMs: number;
}

/** Called after each change, in the order of changes, and before the write is answered. */
type ChangeListener = (change: Change) => void;

interface Collection {
  readonly objects: Map<string, KubeObject>;
  history: Change[];
  /** The history contains all changes after this revision. */
  compacted: number;
  readonly listeners: Set<ChangeListener>;
}

/** Stores all objects like etcd: one counter of revisions, and a history for each resource (`GROUP/PLURAL`). */
export class Store {
  readonly #clock: Clock;
  readonly #collections = new Map<string, Collection>();
  readonly #waiting = new Set<{ readonly revision: number; readonly callback: () => void }>();
  #revision = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get revision(): number {
    return this.#revision;
  }

  get(resource: string, namespace: string | null, name: string): KubeObject | null {
    return this.#collection(resource).objects.get(keyOf(namespace, name)) ?? null;
  }

  /** Returns all objects of a resource in no particular order. */
  all(resource: string): Iterable<KubeObject> {
    return this.#collection(resource).objects.values();
  }

  count(resource: string): number {
    return this.#collection(resource).objects.size;
  }

  /** Returns the objects as of a revision, by key; null: the history does not reach back to the revision. */
  allAt(resource: string, revision: number): ReadonlyMap<string, KubeObject> | null {
    const collection = this.#collection(resource);
    this.#forgetOld(collection);
    if (revision < collection.compacted) return null;
    const last = collection.history.at(-1);
    if (last === undefined || last.revision <= revision) return collection.objects;
    const objects = new Map(collection.objects);
    for (let i = collection.history.length - 1; i >= 0; i -= 1) {
      const change = collection.history[i];
      if (change === undefined || change.revision <= revision) break;
      const key = keyOf(namespaceOf(change.object), change.object.metadata.name);
      if (change.previous === null) objects.delete(key);
      else objects.set(key, change.previous);
    }
    return objects;
  }

  /** Adds or replaces an object. Returns it with its new resourceVersion. */
  put(resource: string, object: KubeObject): KubeObject {
    const collection = this.#collection(resource);
    const key = keyOf(namespaceOf(object), object.metadata.name);
    const previous = collection.objects.get(key) ?? null;
    this.#revision += 1;
    const stored = withMetadata(object, { resourceVersion: String(this.#revision) });
    collection.objects.set(key, stored);
    this.#record(collection, { type: previous === null ? 'ADDED' : 'MODIFIED', object: stored, previous });
    return stored;
  }

  /** Removes an object. Returns it with the revision of its removal; null: it does not exist. */
  remove(resource: string, namespace: string | null, name: string): KubeObject | null {
    const collection = this.#collection(resource);
    const key = keyOf(namespace, name);
    const previous = collection.objects.get(key);
    if (previous === undefined) return null;
    this.#revision += 1;
    const removed = withMetadata(previous, { resourceVersion: String(this.#revision) });
    collection.objects.delete(key);
    this.#record(collection, { type: 'DELETED', object: removed, previous });
    return removed;
  }

  /** Returns the changes after a revision, oldest first; null: the history does not reach back to the revision. */
  changesSince(resource: string, revision: number): readonly Change[] | null {
    const collection = this.#collection(resource);
    this.#forgetOld(collection);
    if (revision < collection.compacted) return null;
    const first = collection.history.findIndex((change) => change.revision > revision);
    return first < 0 ? [] : collection.history.slice(first);
  }

  /** Calls `listener` for each change of a resource until the returned function is called. */
  subscribe(resource: string, listener: ChangeListener): () => void {
    const { listeners } = this.#collection(resource);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Calls `callback` once when the store reaches a revision. The returned function cancels the call. */
  whenReached(revision: number, callback: () => void): () => void {
    const waiter = { revision, callback };
    this.#waiting.add(waiter);
    return () => this.#waiting.delete(waiter);
  }

  /** Drops the history. Watches and continue tokens of earlier revisions get 410 from now on. */
  compact(): void {
    this.#revision += 1;
    for (const collection of this.#collections.values()) {
      collection.history = [];
      collection.compacted = this.#revision;
    }
  }

  #record(collection: Collection, step: Pick<Change, 'type' | 'object' | 'previous'>): void {
    const change = { ...step, revision: this.#revision, atMs: this.#clock.monotonicMs() };
    collection.history.push(change);
    if (collection.history.length > HISTORY_CHANGES * 1.25) {
      forget(collection, collection.history.length - HISTORY_CHANGES);
    }
    for (const listener of [...collection.listeners]) listener(change);
    for (const waiter of this.#waiting) {
      if (waiter.revision > this.#revision) continue;
      this.#waiting.delete(waiter);
      waiter.callback();
    }
  }

  #forgetOld(collection: Collection): void {
    const oldest = this.#clock.monotonicMs() - HISTORY_MS;
    const firstKept = collection.history.findIndex((change) => change.atMs >= oldest);
    forget(collection, firstKept < 0 ? collection.history.length : firstKept);
  }

  #collection(resource: string): Collection {
    const known = this.#collections.get(resource);
    if (known !== undefined) return known;
    const collection = {
      objects: new Map(),
      history: [],
      compacted: 0,
      listeners: new Set<ChangeListener>(),
    };
    this.#collections.set(resource, collection);
    return collection;
  }
}

function forget(collection: Collection, count: number): void {
  const last = collection.history[count - 1];
  if (last === undefined) return;
  collection.compacted = last.revision;
  collection.history = collection.history.slice(count);
}

/** The state that the API server and the controllers share. */
export interface ClusterState {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: Catalog;
  readonly store: Store;
}
