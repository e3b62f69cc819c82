import { sleep, withDeadline, type Clock } from '../units/clock.js';
import { createBackoff } from './backoff.js';
import { objectIn, textIn, type JsonObject } from './json.js';
import { listAll, nameScope, type ResourceScope } from './list-pages.js';
import type { Log } from './log.js';
import type { ObjectStore, WatchedObject } from './object-store.js';
import { isOlder } from './resource-version.js';
import type { Transport } from './transport.js';
import { KubernetesError } from './types.js';
import { readWatchEvent, WatchEventError, type WatchEvent } from './watch-events.js';
import { LineTooLongError, splitLines } from './watch-lines.js';

/** Keeps one store equal to what the server has, for one resource in one namespace or in all. */
export interface Reflector {
  /** Lists and watches until `signal` is aborted; never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Listed at least once. */
  readonly isSynced: () => boolean;
  /** Seconds since the last event, bookmark or finished list; infinite before the first list. */
  readonly ageSeconds: () => number;
  /** The failure that has not been mended yet; null while a watch runs. */
  readonly failure: () => KubernetesError | null;
  /** Calls back after each list and after each failure, until the answer is called. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface ReflectorOptions<T extends WatchedObject> {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly scope: ResourceScope;
  readonly store: ObjectStore<T>;
  /** Takes what is needed of an object; null for one that cannot be read. */
  readonly convert: (object: JsonObject) => T | null;
}

const WATCH_START_DEADLINE_MS = 30_000;
const MIN_WATCH_SECONDS = 240;
const MAX_WATCH_SECONDS = 480;
const WATCH_GRACE_SECONDS = 15;
const IDLE_MS = 150_000;
/** A watch that ends sooner without news is a failure: behind a broken proxy it would come again at once, for ever. */
const SHORT_WATCH_MS = 1000;
const INTERNAL_ERROR_PATIENCE_MS = 60_000;
const OLD_LIST_PATIENCE_MS = 60_000;
const RELIST_REST_MS = 120_000;

/** Where the watch stands; `version` null: the next step is a list. */
interface Position {
  version: string | null;
  /** The newest version ever seen. */
  newest: string | null;
}

/**
 * LIST, then WATCH from the list's version, again and again from the last version seen; LIST again only when the
 * server says that this version is gone. Source: reliability.md, K1-K12.
 */
export function createReflector<T extends WatchedObject>(options: ReflectorOptions<T>): Reflector {
  const { clock, log, scope, store } = options;
  const backoff = createBackoff(clock);
  const slowBackoff = createBackoff(clock, 60_000, 600_000);
  const listeners = new Set<() => void>();
  const position: Position = { version: null, newest: null };
  let heardMs: number | null = null;
  let listedMs = Number.NEGATIVE_INFINITY;
  let failure: KubernetesError | null = null;
  let internalErrorMs: number | null = null;
  let oldListMs: number | null = null;
  let sawBookmark = false;

  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };

  const advance = (version: string): void => {
    heardMs = clock.monotonicMs();
    internalErrorMs = null;
    if (version === '') return;
    if (position.version === null || !isOlder(version, position.version)) position.version = version;
    if (position.newest === null || !isOlder(version, position.newest)) position.newest = version;
  };

  /** A list may be older than what was seen: a stale server, or a cluster that was restored. Only time tells. */
  const refuseOldList = (version: string): void => {
    if (position.newest === null || !isOlder(version, position.newest)) {
      oldListMs = null;
      return;
    }
    oldListMs ??= clock.monotonicMs();
    if (clock.monotonicMs() - oldListMs >= OLD_LIST_PATIENCE_MS) {
      position.newest = null;
      oldListMs = null;
      return;
    }
    throw new KubernetesError(
      'bad_answer',
      `listing ${nameScope(scope)}: the list is of version ${version}, older than ${position.newest}, which was seen`,
    );
  };

  const list = async (signal: AbortSignal): Promise<void> => {
    const { items, resourceVersion } = await listAll({ ...options, signal });
    refuseOldList(resourceVersion);
    store.replace(items);
    advance(resourceVersion);
    listedMs = clock.monotonicMs();
    failure = null;
    notify();
  };

  const apply = (event: WatchEvent): void => {
    switch (event.type) {
      case 'put': {
        const object = options.convert(event.object);
        if (object === null) log.warn({ resource: nameScope(scope) }, 'an object could not be read');
        else if (!isOutdated(store, object)) store.put(object);
        break;
      }
      case 'delete': {
        const metadata = objectIn(event.object, 'metadata');
        const [namespace, name] = [textIn(metadata, 'namespace') ?? '', textIn(metadata, 'name') ?? ''];
        const gone = { namespace, name, resourceVersion: event.resourceVersion };
        if (!isOutdated(store, gone)) store.remove(namespace, name);
        break;
      }
      case 'bookmark':
        sawBookmark = true;
        break;
      case 'unknown':
        log.warn({ resource: nameScope(scope) }, 'an event of an unknown type was ignored');
        return;
      default:
        event.type satisfies never;
    }
    advance(event.resourceVersion);
  };

  const watch = async (version: string, signal: AbortSignal): Promise<number> => {
    const startedMs = clock.monotonicMs();
    const span = MAX_WATCH_SECONDS - MIN_WATCH_SECONDS + 1;
    const timeoutSeconds = MIN_WATCH_SECONDS + Math.floor(clock.random() * span);
    const deadlineMs = (timeoutSeconds + WATCH_GRACE_SECONDS) * 1000;
    const doing = `watching ${nameScope(scope)}`;
    const lastNews = (): number => Math.max(startedMs, heardMs ?? startedMs);
    const consume = async (deadline: AbortSignal): Promise<void> => {
      const stream = await options.transport.openWatch({
        lane: 'watch',
        method: 'GET',
        path: scope.path,
        query: {
          watch: '1',
          resourceVersion: version,
          allowWatchBookmarks: 'true',
          timeoutSeconds: String(timeoutSeconds),
        },
        doing,
        verb: 'watch',
        resource: scope.plural,
        deadlineMs: WATCH_START_DEADLINE_MS,
        signal: deadline,
      });
      failure = null;
      try {
        for await (const line of splitLines(stream.chunks)) apply(readWatchEvent(line, doing));
      } catch (cause) {
        if (cause instanceof KubernetesError) throw cause;
        const words = cause instanceof Error ? cause.message : String(cause);
        const kind = cause instanceof LineTooLongError ? 'bad_answer' : 'connection';
        throw new KubernetesError(kind, `${doing}: ${words}`, { cause });
      } finally {
        stream.close();
      }
    };
    try {
      await withIdleLimit({ clock, signal, lastNews }, (idle) =>
        withDeadline(clock, { ms: deadlineMs, parent: idle }, consume),
      );
    } catch (error) {
      if (error instanceof IdleError) return recoverFromSilence();
      // The server did not keep its own timeoutSeconds: the connection is dead, the version is not.
      if (clock.monotonicMs() - startedMs >= deadlineMs && !signal.aborted) return 0;
      throw error;
    }
    const isShort = clock.monotonicMs() - startedMs < SHORT_WATCH_MS;
    return isShort && position.version === version ? backoff.next() : 0;
  };

  /** A server with bookmarks went silent: connect anew. One without is only quiet: list, so that we know. */
  const recoverFromSilence = (): number => {
    if (!sawBookmark) position.version = null;
    log.info({ resource: nameScope(scope) }, 'a silent watch was ended');
    return 0;
  };

  const recover = (cause: unknown): number => {
    const error =
      cause instanceof KubernetesError
        ? cause
        : new KubernetesError('bad_answer', `reading ${nameScope(scope)}: ${String(cause)}`, { cause });
    failure = error;
    log.debug({ resource: nameScope(scope), error: error.message }, 'a list or watch failed');
    notify();
    const now = clock.monotonicMs();
    const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000 * (1 + clock.random());
    switch (error.kind) {
      case 'gone':
        position.version = null;
        return now - listedMs >= RELIST_REST_MS ? 0 : backoff.next();
      case 'forbidden':
        return slowBackoff.next();
      case 'not_found':
        position.version = null;
        return slowBackoff.next();
      case 'invalid':
        position.version = null;
        return backoff.next();
      case 'unauthorized':
        return Math.max(5000, backoff.next());
      default:
        if (error instanceof WatchEventError && error.status === 500) {
          internalErrorMs ??= now;
          if (now - internalErrorMs > INTERNAL_ERROR_PATIENCE_MS) position.version = null;
        }
        return Math.max(retryAfterMs, backoff.next());
    }
  };

  const step = async (signal: AbortSignal): Promise<number> => {
    try {
      if (position.version === null) await list(signal);
      return position.version === null ? 0 : await watch(position.version, signal);
    } catch (error) {
      return signal.aborted ? 0 : recover(error);
    }
  };

  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const pauseMs = await step(signal);
        if (pauseMs > 0) await sleep(clock, pauseMs, signal);
      }
    },
    isSynced: () => listedMs !== Number.NEGATIVE_INFINITY,
    ageSeconds: () => (heardMs === null ? Number.POSITIVE_INFINITY : (clock.monotonicMs() - heardMs) / 1000),
    failure: () => failure,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store has a newer one: events that come twice or in a wrong order take nothing back. */
function isOutdated<T extends WatchedObject>(store: ObjectStore<T>, object: WatchedObject): boolean {
  const known = store.get(object.namespace, object.name);
  return known !== undefined && isOlder(object.resourceVersion, known.resourceVersion);
}

/** Nothing came over a watch for 150 s, not even a bookmark. */
class IdleError extends Error {
  override name = 'IdleError';
}

/** Runs `work` with a signal that is aborted when there was no news for `IDLE_MS`; then throws `IdleError`. */
async function withIdleLimit(
  { clock, signal, lastNews }: { clock: Clock; signal: AbortSignal; lastNews: () => number },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const idle = new IdleError('silent');
  let cancel = (): void => undefined;
  const arm = (): void => {
    const leftMs = lastNews() + IDLE_MS - clock.monotonicMs();
    if (leftMs <= 0) controller.abort(idle);
    else cancel = clock.after(leftMs, arm);
  };
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener('abort', follow);
  arm();
  try {
    await work(controller.signal);
  } catch (error) {
    if (controller.signal.reason !== idle) throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', follow);
  }
  if (controller.signal.reason === idle) throw idle;
}
