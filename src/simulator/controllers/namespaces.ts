import type { ClusterState } from '../objects/store.js';
import { namespaceOf } from '../objects/kube-object.js';
import { NAMESPACES } from '../objects/resources.js';
import { Schedule } from './schedule.js';

/** Delay before the first attempt to empty a namespace, and between attempts while objects with owners remain. */
const REACTION_MS = 100;
/** Objects with owners, such as pods, that still exist after this time are removed. */
const GRACE_MS = 30_000;

/**
 * Empties namespaces that are being deleted, and then removes them. Objects with owners, such as pods, are left to the
 * controller of their workload, so that pods terminate gracefully.
 */
export class NamespaceController {
  readonly #context: ClusterState;
  readonly #schedule: Schedule;
  readonly #unsubscribe: () => void;
  /** Maps a namespace to the monotonic time at which its deletion started. */
  readonly #startMs = new Map<string, number>();

  constructor(context: ClusterState) {
    this.#context = context;
    this.#schedule = new Schedule(context.clock, (name) => this.#empty(name));
    this.#unsubscribe = context.store.subscribe(NAMESPACES, ({ type, object }) => {
      const { name } = object.metadata;
      const isMarked = object.metadata['deletionTimestamp'] !== undefined;
      if (type === 'DELETED' || !isMarked || this.#startMs.has(name)) return;
      this.#startMs.set(name, context.clock.monotonicMs());
      this.#schedule.add(name, REACTION_MS);
    });
  }

  close(): void {
    this.#schedule.close();
    this.#unsubscribe();
  }

  #empty(name: string): void {
    const { store, catalog, clock } = this.#context;
    const isOverdue = clock.monotonicMs() - (this.#startMs.get(name) ?? 0) >= GRACE_MS;
    const storages = new Set(catalog.resources.filter((r) => r.namespaced).map((r) => r.storage));
    let remaining = 0;
    for (const storage of storages) {
      for (const object of [...store.all(storage)]) {
        if (namespaceOf(object) !== name) continue;
        const isOwned = object.metadata['ownerReferences'] !== undefined;
        if (isOwned && !isOverdue) remaining += 1;
        else store.remove(storage, name, object.metadata.name);
      }
    }
    if (remaining > 0) {
      this.#schedule.add(name, REACTION_MS);
      return;
    }
    this.#startMs.delete(name);
    store.remove(NAMESPACES, null, name);
  }
}
