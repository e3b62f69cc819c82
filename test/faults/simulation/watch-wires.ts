import type { Change } from '../../../src/simulator/objects/store.js';
import { type Cluster, DEPLOYMENTS, PODS, type WireAnswer } from './cluster.js';
import type { Fault, WatchMode } from './faults.js';
import type { ApiRecord } from './log.js';
import type { Random } from './random.js';
import type { Timeline } from './timeline.js';

type WatchFault = Extract<Fault, { readonly kind: 'watch' }>;

/** The process that reads a watch. */
export interface WatchClient {
  readonly owner: string;
  readonly send: (line: string) => void;
  readonly end: () => void;
}

/** One connection between the API server and a process. */
interface Wire {
  readonly client: WatchClient;
  readonly resource: string;
  readonly namespace: string | null;
  /** When its last line arrives: no line overtakes another one. */
  readyMs: number;
  isOpen: boolean;
  /** Half-open: no further data, and no end. */
  isDead: boolean;
  /** Notifies the API server that the connection is closed. */
  onClose: () => void;
}

const REPLAYED_EVENTS = 30;
const WATCHED: Readonly<Record<string, string>> = { deployments: DEPLOYMENTS, pods: PODS };

/** The connections of watches, with their latency and their faults. */
export class WatchWires {
  readonly faults = new Set<WatchFault>();
  readonly #timeline: Timeline;
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #wires = new Set<Wire>();
  /** The last changes of a resource, for the replay. */
  readonly #recent = new Map<string, Change[]>();

  constructor(parts: { readonly timeline: Timeline; readonly cluster: Cluster; readonly random: Random }) {
    this.#timeline = parts.timeline;
    this.#cluster = parts.cluster;
    this.#random = parts.random;
    for (const [resource, storage] of Object.entries(WATCHED)) this.#remember(resource, storage);
  }

  /** Opens a watch; the returned function closes it. An answer: the watch was refused. */
  open(record: ApiRecord, client: WatchClient): (() => void) | WireAnswer {
    const { resource, namespace } = record;
    const modes = [...this.faults].filter((fault) => concerns(fault, resource)).map(({ what }) => what);
    if (modes.some(({ mode }) => mode === 'http-410')) return GONE;
    const wire: Wire = {
      ...{ client, resource, namespace },
      ...{ readyMs: 0, isOpen: true, isDead: false, onClose: () => undefined },
    };
    this.#wires.add(wire);
    const refusal = this.#cluster.watch(record, {
      accept: () => undefined,
      send: (line) => this.#carry(wire, line),
      end: () => this.#whenReady(wire, () => this.#end(wire)),
      destroy: () => this.#end(wire),
      onClose: (callback) => (wire.onClose = callback),
    });
    if (refusal !== null) {
      this.#drop(wire);
      return refusal;
    }
    for (const mode of modes) this.#strike(wire, mode);
    return () => this.#drop(wire);
  }

  /** Begins a fault; open watches meet it too. */
  begin(fault: WatchFault): void {
    this.faults.add(fault);
    for (const wire of [...this.#wires]) if (concerns(fault, wire.resource)) this.#strike(wire, fault.what);
  }

  /** Breaks all connections, as when the server goes. */
  breakAll(): void {
    for (const wire of [...this.#wires]) this.#end(wire);
  }

  /** Closes the connections of a dead process. */
  dropAllOf(owner: string): void {
    for (const wire of [...this.#wires]) if (wire.client.owner === owner) this.#drop(wire);
  }

  /** Returns the number of connections of a process. */
  connectionsOf(owner: string): number {
    return [...this.#wires].filter(({ client }) => client.owner === owner).length;
  }

  #remember(resource: string, storage: string): void {
    const recent: Change[] = [];
    this.#recent.set(resource, recent);
    this.#cluster.store.subscribe(storage, (change) => {
      if (recent.push(change) > REPLAYED_EVENTS) recent.shift();
    });
  }

  #strike(wire: Wire, what: WatchMode): void {
    switch (what.mode) {
      case 'end-at-once':
        this.#timeline.after(5, () => this.#end(wire));
        return;
      case 'error': {
        const object = { kind: 'Status', code: what.code, reason: what.reason, message: 'a fault' };
        // A version that no client may adopt as its own.
        const metadata = { resourceVersion: '999999999' };
        this.#write(wire, `${JSON.stringify({ type: 'ERROR', object: { ...object, metadata } })}\n`);
        this.#timeline.after(30, () => this.#end(wire));
        return;
      }
      case 'garbage':
        this.#write(wire, `${JSON.stringify({ type: 'SURPRISE', object: { metadata: {} } })}\n`);
        this.#write(wire, '{"type":"MODIFIED","object":{"metada\n');
        return;
      case 'silent':
        wire.isDead = true;
        return;
      case 'replay':
        this.#replay(wire);
        return;
      case 'http-410':
      case 'no-bookmarks':
        return;
      default:
        what satisfies never;
    }
  }

  #replay(wire: Wire): void {
    for (const { type, object } of this.#recent.get(wire.resource) ?? []) {
      const isWithin = wire.namespace === null || object.metadata.namespace === wire.namespace;
      if (isWithin && this.#random.chance(0.7)) this.#write(wire, `${JSON.stringify({ type, object })}\n`);
    }
  }

  /** Transports a line of the API server. */
  #carry(wire: Wire, line: string): void {
    const isBookmark = line.startsWith('{"type":"BOOKMARK"');
    const isQuiet = [...this.faults].some(
      ({ what, resource }) => what.mode === 'no-bookmarks' && (resource ?? wire.resource) === wire.resource,
    );
    if (!isBookmark || !isQuiet) this.#write(wire, line);
  }

  #write(wire: Wire, text: string): void {
    wire.readyMs = Math.max(wire.readyMs, this.#timeline.nowMs + this.#random.between(1, 40));
    this.#whenReady(wire, () => {
      if (wire.isOpen && !wire.isDead) wire.client.send(text);
    });
  }

  /** Runs after all lines in flight. */
  #whenReady(wire: Wire, run: () => void): void {
    this.#timeline.after(wire.readyMs - this.#timeline.nowMs, run);
  }

  #end(wire: Wire): void {
    if (!wire.isOpen) return;
    this.#drop(wire);
    if (!wire.isDead) wire.client.end();
  }

  #drop(wire: Wire): void {
    if (!wire.isOpen) return;
    wire.isOpen = false;
    this.#wires.delete(wire);
    wire.onClose();
  }
}

const GONE: WireAnswer = {
  status: 410,
  retryAfter: null,
  body: JSON.stringify({
    kind: 'Status',
    status: 'Failure',
    code: 410,
    reason: 'Expired',
    message: 'too old resource version',
  }),
};

function concerns(fault: WatchFault, resource: string): boolean {
  return fault.resource === null || fault.resource === resource;
}
