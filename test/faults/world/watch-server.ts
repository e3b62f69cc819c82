import type { Fault, WatchMode } from './faults.js';
import type { Random } from './random.js';
import type { Store, StoredEvent } from './store.js';
import type { Timeline } from './timeline.js';

type WatchFault = Extract<Fault, { readonly kind: 'watch' }>;

/** Where the lines of one watch go. */
export interface WatchClient {
  /** The process that reads it. */
  readonly owner: string;
  readonly resource: string;
  readonly namespace: string | null;
  readonly version: number;
  readonly timeoutSeconds: number;
  readonly send: (line: string) => void;
  readonly end: () => void;
}

interface Connection {
  readonly client: WatchClient;
  /** No line overtakes another one. */
  readyMs: number;
  isOpen: boolean;
  /** Its peer is gone without a word: nothing comes over it any more. */
  isDead: boolean;
  forget: () => void;
}

const BOOKMARK_MS = 60_000;
const REPLAYED_EVENTS = 30;

/** The watches of the API server, with the faults of watches. */
export class WatchServer {
  readonly faults = new Set<WatchFault>();
  readonly #timeline: Timeline;
  readonly #store: Store;
  readonly #random: Random;
  readonly #connections = new Set<Connection>();

  constructor(parts: { readonly timeline: Timeline; readonly store: Store; readonly random: Random }) {
    this.#timeline = parts.timeline;
    this.#store = parts.store;
    this.#random = parts.random;
  }

  /** Begins a watch; the answer ends it. `'gone'`: it cannot begin at its version. */
  open(client: WatchClient): (() => void) | 'gone' {
    const missed = this.#store.since(client.resource, client.version);
    const modes = [...this.faults].filter((fault) => concerns(fault, client)).map(({ what }) => what);
    if (missed === null || modes.some(({ mode }) => mode === 'http-410')) return 'gone';
    const isOpen = true;
    const connection: Connection = { client, readyMs: 0, isOpen, isDead: false, forget: () => undefined };
    this.#connections.add(connection);
    connection.forget = this.#store.listen(client.resource, (event) => this.#tell(connection, event));
    for (const event of missed) this.#tell(connection, event);
    for (const mode of modes) this.#strike(connection, mode);
    this.#bookmarkLater(connection);
    this.#timeline.after(client.timeoutSeconds * 1000, () => this.#end(connection));
    return () => this.#drop(connection);
  }

  /** A fault begins: what is connected already meets it, too. */
  begin(fault: WatchFault): void {
    this.faults.add(fault);
    for (const connection of [...this.#connections])
      if (concerns(fault, connection.client)) this.#strike(connection, fault.what);
  }

  /** All connections break, as when the server goes. */
  breakAll(): void {
    for (const connection of [...this.#connections]) this.#end(connection);
  }

  /** A process is gone, and its sockets with it. */
  dropAllOf(owner: string): void {
    for (const connection of [...this.#connections])
      if (connection.client.owner === owner) this.#drop(connection);
  }

  /** How many connections a process holds. */
  connectionsOf(owner: string): number {
    return [...this.#connections].filter(({ client }) => client.owner === owner).length;
  }

  #strike(connection: Connection, what: WatchMode): void {
    const { resource, namespace } = connection.client;
    switch (what.mode) {
      case 'end-at-once':
        this.#timeline.after(5, () => this.#end(connection));
        return;
      case 'error': {
        const object = { kind: 'Status', code: what.code, reason: what.reason, message: 'a fault' };
        // A version that no client may take for its own.
        const metadata = { resourceVersion: '999999999' };
        this.#send(connection, { type: 'ERROR', object: { ...object, metadata } });
        this.#timeline.after(30, () => this.#end(connection));
        return;
      }
      case 'garbage':
        this.#send(connection, { type: 'SURPRISE', object: { metadata: {} } });
        this.#write(connection, '{"type":"MODIFIED","object":{"metada\n');
        return;
      case 'silent':
        connection.isDead = true;
        return;
      case 'replay': {
        const events = (this.#store.since(resource, 0) ?? []).slice(-REPLAYED_EVENTS);
        for (const event of events)
          if (isIn(namespace, event) && this.#random.chance(0.7)) this.#tell(connection, event);
        return;
      }
      case 'http-410':
      case 'no-bookmarks':
        return;
      default:
        what satisfies never;
    }
  }

  #tell(connection: Connection, event: StoredEvent): void {
    if (isIn(connection.client.namespace, event))
      this.#send(connection, { type: event.type, object: event.object });
  }

  #bookmarkLater(connection: Connection): void {
    this.#timeline.after(BOOKMARK_MS, () => {
      if (!connection.isOpen) return;
      const isQuiet = [...this.faults].some(
        (fault) => fault.what.mode === 'no-bookmarks' && concerns(fault, connection.client),
      );
      const metadata = { resourceVersion: String(this.#store.version) };
      if (!isQuiet) this.#send(connection, { type: 'BOOKMARK', object: { metadata } });
      this.#bookmarkLater(connection);
    });
  }

  #send(connection: Connection, event: { readonly type: string; readonly object: unknown }): void {
    this.#write(connection, `${JSON.stringify(event)}\n`);
  }

  #write(connection: Connection, text: string): void {
    const atMs = Math.max(connection.readyMs, this.#timeline.nowMs + this.#random.between(1, 40));
    connection.readyMs = atMs;
    this.#timeline.after(atMs - this.#timeline.nowMs, () => {
      if (connection.isOpen && !connection.isDead) connection.client.send(text);
    });
  }

  #end(connection: Connection): void {
    if (!connection.isOpen) return;
    this.#drop(connection);
    if (!connection.isDead) connection.client.end();
  }

  #drop(connection: Connection): void {
    connection.isOpen = false;
    connection.forget();
    this.#connections.delete(connection);
  }
}

function concerns(fault: WatchFault, client: WatchClient): boolean {
  return fault.resource === null || fault.resource === client.resource;
}

function isIn(namespace: string | null, { object }: StoredEvent): boolean {
  return namespace === null || object.metadata.namespace === namespace;
}
