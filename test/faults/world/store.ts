/** What every object of an API server has; the rest is JSON as the kind has it. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}

export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly object: StoredObject;
}

/** So many events of a resource can still be watched from; older ones are gone. */
const HISTORY_LENGTH = 2000;

interface Table {
  readonly objects: Map<string, StoredObject>;
  history: StoredEvent[];
  /** The version before the first event of the history. */
  oldest: number;
  readonly listeners: Set<(event: StoredEvent) => void>;
}

interface Draft {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** The objects of a cluster with one counter of versions, as etcd has it. */
export class Store {
  #version = 1000;
  #uids = 0;
  readonly #tables = new Map<string, Table>();

  get version(): number {
    return this.#version;
  }

  get(resource: string, namespace: string, name: string): StoredObject | null {
    return this.#table(resource).objects.get(`${namespace}/${name}`) ?? null;
  }

  /** `namespace` null: of all. In the order of their names. */
  list(resource: string, namespace: string | null): readonly StoredObject[] {
    const all = [...this.#table(resource).objects.values()];
    const some = namespace === null ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
    return some.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** Creates or replaces; gives the object with its uid and new version. */
  put(resource: string, draft: Draft): StoredObject {
    const table = this.#table(resource);
    const key = `${draft.metadata.namespace}/${draft.metadata.name}`;
    const before = table.objects.get(key);
    const uid = before?.metadata.uid ?? `uid-${(this.#uids += 1)}`;
    this.#version += 1;
    const generation = generationAfter(before, draft);
    const metadata = { ...draft.metadata, uid, generation, resourceVersion: String(this.#version) };
    const { apiVersion, kind } = draft;
    const object: StoredObject = { ...draft, apiVersion, kind, metadata };
    table.objects.set(key, object);
    this.#tell(table, { type: before === undefined ? 'ADDED' : 'MODIFIED', version: this.#version, object });
    return object;
  }

  remove(resource: string, namespace: string, name: string): void {
    const table = this.#table(resource);
    const object = table.objects.get(`${namespace}/${name}`);
    if (object === undefined) return;
    table.objects.delete(`${namespace}/${name}`);
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#tell(table, { type: 'DELETED', version: this.#version, object: { ...object, metadata } });
  }

  /** The events of a resource after a version; null where they are not kept any more. */
  since(resource: string, version: number): readonly StoredEvent[] | null {
    const { history, oldest } = this.#table(resource);
    return version < oldest ? null : history.filter((event) => event.version > version);
  }

  /** Forgets what happened so far, as a compaction does: a watch from before is answered 410. */
  compact(): void {
    for (const table of this.#tables.values()) {
      table.history = [];
      table.oldest = this.#version;
    }
  }

  listen(resource: string, listener: (event: StoredEvent) => void): () => void {
    const { listeners } = this.#table(resource);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  #table(resource: string): Table {
    const known = this.#tables.get(resource);
    if (known !== undefined) return known;
    const table: Table = { objects: new Map(), history: [], oldest: 0, listeners: new Set() };
    this.#tables.set(resource, table);
    return table;
  }

  #tell(table: Table, event: StoredEvent): void {
    table.history.push(event);
    if (table.history.length > 2 * HISTORY_LENGTH) {
      const dropped = table.history.splice(0, HISTORY_LENGTH);
      table.oldest = dropped.at(-1)?.version ?? table.oldest;
    }
    for (const listener of [...table.listeners]) listener(event);
  }
}

/** One more whenever the spec is another one, as for the kinds that have one. */
function generationAfter(before: StoredObject | undefined, draft: Draft): number {
  if (before === undefined) return 1;
  const { generation } = before.metadata;
  const isSame = before['spec'] === draft['spec'];
  return (typeof generation === 'number' ? generation : 1) + (isSame ? 0 : 1);
}
