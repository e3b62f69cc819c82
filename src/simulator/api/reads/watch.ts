import { isTrue, type ResourceRequest, type ApiContext } from '../requests/request.js';
import { type FaultMatch, type FaultPlan, type Subject, matches } from '../requests/faults.js';
import { readRevision } from './list.js';
import { type KubeObject, namespaceOf } from '../../objects/kube-object.js';
import { emptyObject } from '../../objects/read-object.js';
import { apiVersionOf } from '../../objects/resources.js';
import { type Match, matchOf } from '../../objects/selectors.js';
import { makeStatus, tooOld } from '../../objects/status-error.js';
import type { Change } from '../../objects/store.js';

const DEFAULT_TIMEOUT_SECONDS = 1800;

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Serializes the object of an event, as itself or as a row of a table. */
type Render = (object: KubeObject) => string;

export interface WatchPeer {
  readonly accept: () => void;
  readonly send: (line: string) => void;
  readonly end: () => void;
  readonly destroy: () => void;
  /** Registers a function that is called when the client or the server has closed the connection. */
  readonly onClose: (callback: () => void) => void;
}

interface Watcher {
  readonly subject: Subject;
  readonly send: (line: string) => void;
  readonly end: () => void;
  readonly destroy: () => void;
  isSilent: boolean;
}

export class Watches {
  readonly #context: ApiContext;
  readonly #faults: FaultPlan;
  readonly #bookmarkMs: number;
  readonly #open = new Set<Watcher>();

  constructor(context: ApiContext, faults: FaultPlan, bookmarkSeconds: number) {
    this.#context = context;
    this.#faults = faults;
    this.#bookmarkMs = bookmarkSeconds * 1000;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Ends the matching watches: cleanly (`end`), or by breaking the connection (`destroy`). Returns their number. */
  close(match: FaultMatch = {}, how: 'end' | 'destroy' = 'end'): number {
    return this.#forEach(match, (watcher) => watcher[how]());
  }

  /** Sends no further events to the matching watches, as on a half-open connection. Returns their number. */
  silence(match: FaultMatch = {}): number {
    return this.#forEach(match, (watcher) => (watcher.isSilent = true));
  }

  /** Sends an ERROR event with a Status of this code to the matching watches, and ends them. Returns their number. */
  sendError(code: number, reason: string, match: FaultMatch = {}): number {
    const object = makeStatus({ code, reason, message: `simulated ${reason}` });
    return this.#forEach(match, (watcher) => {
      watcher.send(line('ERROR', JSON.stringify(object)));
      watcher.end();
    });
  }

  /** Runs a watch until its timeout, its client or a fault ends it. */
  start(request: ResourceRequest, subject: Subject, peer: WatchPeer, render: Render): void {
    const { query } = request;
    const from = readRevision(query.get('resourceVersion'));
    const match = matchOf(query, request.resource);
    peer.accept();
    const stops: (() => void)[] = [];
    const watcher = this.#register(subject, peer, stops);
    const stream = { watcher, request, match, render };
    const deliver = (change: Change): void => this.#deliver(stream, change);
    const missed = this.#catchUp(stream, from);
    if (missed === null) return;
    missed.forEach(deliver);
    stops.push(this.#context.store.subscribe(request.resource.storage, deliver));
    if (isTrue(query.get('allowWatchBookmarks'))) this.#scheduleBookmarks(watcher, request, stops);
    const seconds = Number(query.get('timeoutSeconds') ?? '0') || DEFAULT_TIMEOUT_SECONDS;
    stops.push(this.#context.clock.after(seconds * 1000, () => watcher.end()));
  }

  #register(subject: Subject, peer: WatchPeer, stops: (() => void)[]): Watcher {
    const stop = (): void => {
      this.#open.delete(watcher);
      for (const each of stops.splice(0)) each();
    };
    const watcher: Watcher = {
      subject,
      isSilent: false,
      send: (text) => {
        if (!watcher.isSilent) peer.send(text);
      },
      end: () => {
        stop();
        peer.end();
      },
      destroy: peer.destroy,
    };
    this.#open.add(watcher);
    peer.onClose(stop);
    return watcher;
  }

  /**
   * Returns the changes after the revision `from`. If `sendInitialEvents` is true, or it is unset and `from` is at most
   * 0, sends an ADDED event for each object and returns no changes. Null: the history does not reach back to `from`,
   * and the watch has ended.
   */
  #catchUp(stream: Stream, from: number): readonly Change[] | null {
    const { store } = this.#context;
    const { watcher, request, match, render } = stream;
    const wantsState = request.query.get('sendInitialEvents');
    if (wantsState === 'true' || (wantsState === null && from <= 0)) {
      for (const object of store.all(request.resource.storage)) {
        if (isWithin(request, object) && match(object)) watcher.send(line('ADDED', render(object)));
      }
      if (wantsState === 'true') this.#bookmark(watcher, request, { 'k8s.io/initial-events-end': 'true' });
      return [];
    }
    const changes = store.changesSince(request.resource.storage, from < 0 ? store.revision : from);
    if (changes !== null) return changes;
    watcher.send(line('ERROR', JSON.stringify(tooOld(from, store.revision).status)));
    watcher.end();
    return null;
  }

  #deliver({ watcher, request, match, render }: Stream, change: Change): void {
    if (!isWithin(request, change.object)) return;
    const type = seenAs(change, match);
    if (type === null) return;
    const { name } = change.object.metadata;
    const namespace = namespaceOf(change.object);
    const fault = this.#faults.takeForEvent({ ...watcher.subject, namespace, name });
    if (fault === 'swallow') return;
    const text = line(type, render(change.object));
    watcher.send(text);
    if (fault === 'duplicate') watcher.send(text);
  }

  #scheduleBookmarks(watcher: Watcher, request: ResourceRequest, stops: (() => void)[]): void {
    const { clock } = this.#context;
    let cancel = (): void => undefined;
    const next = (): void => {
      cancel = clock.after(this.#bookmarkMs, () => {
        this.#bookmark(watcher, request);
        next();
      });
    };
    next();
    stops.push(() => cancel());
  }

  #bookmark(
    watcher: Watcher,
    { resource }: ResourceRequest,
    annotations?: Readonly<Record<string, string>>,
  ): void {
    const apiVersion = apiVersionOf(resource);
    const resourceVersion = String(this.#context.store.revision);
    const object = {
      ...emptyObject(resource, apiVersion),
      kind: resource.kind,
      apiVersion,
      metadata: { resourceVersion, annotations },
    };
    watcher.send(line('BOOKMARK', JSON.stringify(object)));
  }

  #forEach(match: FaultMatch, act: (watcher: Watcher) => void): number {
    const chosen = [...this.#open].filter((watcher) => matches(match, watcher.subject));
    chosen.forEach(act);
    return chosen.length;
  }
}

interface Stream {
  readonly watcher: Watcher;
  readonly request: ResourceRequest;
  readonly match: Match;
  readonly render: Render;
}

function line(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}

function isWithin({ namespace, name }: ResourceRequest, object: KubeObject): boolean {
  return (
    (namespace === null || namespaceOf(object) === namespace) &&
    (name === null || object.metadata.name === name)
  );
}

/**
 * Returns the type of a change as a watch with a selector sees it: an object that starts to match is ADDED, and one
 * that stops matching is DELETED. Null: the object matches neither before nor after the change.
 */
function seenAs({ type, object, previous }: Change, match: Match): EventType | null {
  const matchedBefore = previous !== null && match(previous);
  const matchesNow = type !== 'DELETED' && match(object);
  if (matchesNow) return matchedBefore ? 'MODIFIED' : 'ADDED';
  return matchedBefore ? 'DELETED' : null;
}
