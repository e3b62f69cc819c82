import { sleep, withDeadline, type Clock } from '../../units/clock.js';
import { objectIn, textIn, type JsonObject } from '../api/json.js';
import { type Listing, listAll, listNotOlder, nameScope, type ResourceScope } from './list-pages.js';
import type { Log } from '../../units/log.js';
import {
  type ObjectStore,
  type WatchedObject,
  createOrderedSink,
  type OrderedSink,
  isOlder,
} from './object-store.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import { createRetryDelays, type RetryDelays, type Verb } from './retry-delays.js';
import type { Transport } from '../requests/transport.js';
import { KubernetesError } from '../api/types.js';
import { readWatchEvent, WatchEventError, type WatchEvent, splitLines, streamError } from './watch-events.js';

/** Keeps a store equal to the objects of one resource on the API server, in one namespace or in all. */
export interface Reflector {
  /** Lists and watches until `signal` is aborted. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly isSynced: () => boolean;
  /** Returns whether the first list is arriving, which means that its last page is at most 5 s old. */
  readonly isListing: () => boolean;
  /**
   * Returns the seconds since the last event, bookmark or completed list, by the monotonic clock or by the wall clock,
   * whichever shows more. Infinite before the first list.
   */
  readonly ageSeconds: () => number;
  /**
   * Returns the last failure, unless a list or watch has succeeded since; null: there is none, or it is a 403 that may
   * not last.
   */
  readonly failure: () => KubernetesError | null;
  /** Calls `listener` after each list and each failure. Returns a function that unsubscribes. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface ReflectorOptions<T extends WatchedObject> extends Pick<Listing<T>, 'fields'> {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly scope: ResourceScope;
  readonly store: ObjectStore<T>;
  readonly convert: (object: JsonObject) => T | null;
  /** Returns the fix that is logged with a failure; null: there is none. */
  readonly fixFor?: (error: KubernetesError) => string | null;
  /** Whether to list every 30 to 60 s if listing is allowed but watching is forbidden. Default: false. */
  readonly listsWithoutWatch?: boolean;
}

const IDLE_MS = 150_000;
const WATCH_START_DEADLINE_MS = 30_000;
const MIN_WATCH_SECONDS = 240;
/** The lifetime of a watch is random, from 240 s to 480 s, so that watches do not all restart together. */
const WATCH_SPAN_SECONDS = 241;
const WATCH_GRACE_SECONDS = 15;
/** Deadline of a list. It is the lifetime of a continue token; 300 pages of 500 take about a minute. */
const LIST_DEADLINE_MS = 300_000;
/** A watch that ends sooner without an event counts as a failure. Otherwise a broken proxy would cause a busy loop. */
const SHORT_WATCH_MS = 1000;
/**
 * After this time without an event, the next step is a list, because the watch may be broken. The list starts before
 * the store counts as outdated (180 s).
 */
const RELIST_AFTER_SECONDS = 110;
const PAGE_PATIENCE_MS = 5000;
const INTERNAL_ERROR_PATIENCE_MS = 60_000;
const OLD_LIST_PATIENCE_MS = 60_000;

/**
 * Lists, then watches from the version of the list. A watch that ends is restarted from the last version seen. There
 * are two reasons for another list. If the last version is gone, the list may come from the watch cache. If watches
 * receive nothing, the list must be consistent, because the watch cache may be stale. Source: reliability.md, K1-K12.
 */
export function createReflector<T extends WatchedObject>(options: ReflectorOptions<T>): Reflector {
  return new ReflectorLoop(options);
}

class ReflectorLoop<T extends WatchedObject> implements Reflector {
  readonly #listeners = new Set<() => void>();
  #failure: KubernetesError | null = null;
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #sink: OrderedSink<T>;
  readonly #delays: RetryDelays;
  /** The version from which to watch; null: the next step is a list. */
  #version: string | null = null;
  #newest: string | null = null;
  /** The oldest version that the next list may have; null: the list must be consistent. */
  #relistFrom: string | null = null;
  #heard: { readonly ms: number; readonly at: Instant } | null = null;
  #listedMs: number | null = null;
  #pageMs: number | null = null;
  #internalErrorMs: number | null = null;
  #oldListMs: number | null = null;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock;
    this.#sink = createOrderedSink(options.store);
    this.#delays = createRetryDelays(options.clock, options.listsWithoutWatch);
  }

  isSynced(): boolean {
    return this.#listedMs !== null;
  }

  isListing(): boolean {
    const pageMs = this.#pageMs;
    return !this.isSynced() && pageMs !== null && this.#clock.monotonicMs() - pageMs <= PAGE_PATIENCE_MS;
  }

  ageSeconds(): number {
    if (this.#heard === null) return Infinity;
    const { ms, at } = this.#heard;
    // Both clocks are needed: while a machine is suspended, its monotonic clock does not advance.
    return Math.max((this.#clock.monotonicMs() - ms) / 1000, secondsBetween(at, this.#clock.now()));
  }

  failure(): KubernetesError | null {
    return this.#failure;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const delayMs = await this.#step(signal);
      if (delayMs > 0) await sleep(this.#clock, delayMs, signal);
    }
  }

  async #step(signal: AbortSignal): Promise<number> {
    if (this.ageSeconds() > RELIST_AFTER_SECONDS) this.#version = null;
    try {
      if (this.#version !== null) return await this.#watch(this.#version, signal);
      await this.#list(signal);
      return 0;
    } catch (error) {
      return signal.aborted ? 0 : this.#recover(error, this.#version === null ? 'list' : 'watch');
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const from = this.#relistFrom;
    // Reset first, so that after a failure the next list is consistent.
    this.#relistFrom = null;
    const deadline = { ms: LIST_DEADLINE_MS, parent: signal };
    const startMs = this.#clock.monotonicMs();
    const { items, resourceVersion } = await withDeadline(this.#clock, deadline, (inTime) => {
      const onPage = (): void => void (this.#pageMs = this.#clock.monotonicMs());
      const listing = { ...this.#options, signal: inTime, onPage };
      return from === null ? listAll(listing) : listNotOlder(listing, from, this.#clock);
    });
    this.#refuseOldList(resourceVersion);
    this.#sink.replace(items, resourceVersion);
    this.#advance(resourceVersion);
    this.#listedMs = this.#clock.monotonicMs();
    this.#delays.afterList(this.#listedMs - startMs);
    this.#clearFailure('list');
    this.#notify();
  }

  /**
   * Throws if the list is older than the newest version seen: the API server is stale, or the cluster was restored.
   * If lists are older for a minute, the cluster was restored, and the list is accepted.
   */
  #refuseOldList(version: string): void {
    const newest = this.#newest;
    const now = this.#clock.monotonicMs();
    if (newest === null || !isOlder(version, newest)) {
      this.#oldListMs = null;
      return;
    }
    this.#oldListMs ??= now;
    if (now - this.#oldListMs < OLD_LIST_PATIENCE_MS)
      throw new KubernetesError(
        'bad_answer',
        `listing ${this.#name}: the list has resourceVersion ${version}, which is older than the last one (${newest})`,
      );
    this.#newest = null;
    this.#oldListMs = null;
  }

  #advance(version: string): void {
    this.#heard = { ms: this.#clock.monotonicMs(), at: this.#clock.now() };
    this.#internalErrorMs = null;
    if (version === '') return;
    if (this.#version === null || !isOlder(version, this.#version)) this.#version = version;
    if (this.#newest === null || !isOlder(version, this.#newest)) this.#newest = version;
  }

  async #watch(version: string, signal: AbortSignal): Promise<number> {
    const startedMs = this.#clock.monotonicMs();
    const timeoutSeconds = MIN_WATCH_SECONDS + Math.floor(this.#clock.random() * WATCH_SPAN_SECONDS);
    const deadlineMs = (timeoutSeconds + WATCH_GRACE_SECONDS) * 1000;
    const elapsedMs = (): number => this.#clock.monotonicMs() - startedMs;
    const idleMs = (): number => Math.min(elapsedMs(), this.ageSeconds() * 1000);
    try {
      await withIdleLimit({ clock: this.#clock, signal, idleMs }, (idle) =>
        withDeadline(this.#clock, { ms: deadlineMs, parent: idle }, (deadline) =>
          this.#consume(version, timeoutSeconds, deadline),
        ),
      );
    } catch (error) {
      if (error instanceof IdleError) {
        this.#options.log.info('closed a watch that had sent no events', { resource: this.#name });
        return 0;
      }
      // The server has exceeded timeoutSeconds, so the connection is dead. The version is still valid.
      if (elapsedMs() >= deadlineMs && !signal.aborted) return 0;
      throw error;
    }
    return elapsedMs() < SHORT_WATCH_MS && this.#version === version ? this.#delays.afterShortWatch() : 0;
  }

  /** Watches with bookmarks. Source: reliability.md, K7. */
  async #consume(version: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const doing = `watching ${this.#name}`;
    const { transport, scope } = this.#options;
    const stream = await transport.openWatch({
      lane: 'watch',
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
      signal,
    });
    this.#clearFailure('watch');
    try {
      for await (const line of splitLines(stream.chunks)) this.#apply(readWatchEvent(line, doing));
    } catch (cause) {
      throw cause instanceof KubernetesError ? cause : streamError(doing, cause);
    } finally {
      stream.close();
    }
  }

  #apply(event: WatchEvent): void {
    switch (event.type) {
      case 'put':
        this.#put(event);
        break;
      case 'delete':
        this.#delete(event);
        break;
      case 'bookmark':
        break;
      case 'unknown':
        this.#options.log.warn('ignored a watch event of an unknown type', { resource: this.#name });
        return;
      default:
        event.type satisfies never;
    }
    this.#advance(event.resourceVersion);
  }

  #put({ object }: WatchEvent): void {
    const item = this.#options.convert(object);
    if (item === null) this.#options.log.warn('ignored an invalid object', { resource: this.#name });
    else this.#sink.put(item);
  }

  #delete({ object, resourceVersion }: WatchEvent): void {
    const metadata = objectIn(object, 'metadata');
    const [namespace, name] = [textIn(metadata, 'namespace') ?? '', textIn(metadata, 'name') ?? ''];
    this.#sink.remove({ namespace, name, resourceVersion });
  }

  /** Decides how to continue after a failure. Returns how many milliseconds to wait. */
  #recover(cause: unknown, verb: Verb): number {
    const error =
      cause instanceof KubernetesError
        ? cause
        : new KubernetesError('bad_answer', `reading ${this.#name}: ${String(cause)}`, { cause });
    const delay = this.#delays.after({ verb, error, listedMs: this.#listedMs });
    if (delay.isLasting) this.#fail(error, delay.isNew);
    if (error.kind === 'gone' && this.#version !== null) this.#relistFrom = this.#newest;
    if (delay.needsList || this.#isVersionLost(error)) this.#version = null;
    return delay.ms;
  }

  #fail(error: KubernetesError, isNew: boolean): void {
    const fix = this.#options.fixFor?.(error) ?? null;
    const facts = { resource: this.#name, error: error.message, ...(fix === null ? {} : { fix }) };
    this.#options.log[isNew ? 'warn' : 'debug']('list or watch failed', facts);
    this.#failure = error;
    this.#notify();
  }

  #clearFailure(verb: Verb): void {
    this.#failure = null;
    this.#delays.clear(verb);
  }

  /**
   * Returns whether the failure requires a list. Otherwise the watch continues from the last version, which saves the
   * server a list.
   */
  #isVersionLost(error: KubernetesError): boolean {
    if (error.kind === 'gone') return true;
    if (!(error instanceof WatchEventError)) return error.kind === 'not_found' || error.kind === 'invalid';
    if (error.status !== 500) return false;
    this.#internalErrorMs ??= this.#clock.monotonicMs();
    return this.#clock.monotonicMs() - this.#internalErrorMs > INTERNAL_ERROR_PATIENCE_MS;
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  get #name(): string {
    return nameScope(this.#options.scope);
  }
}

class IdleError extends Error {
  override name = 'IdleError';
}

/**
 * Runs `work` with a signal that is aborted when `idleMs` reaches 150 s, and then throws `IdleError`. A server that
 * hangs keeps its connection open, so only the absence of events shows the problem. Source: reliability.md, K12 and
 * K14.
 */
async function withIdleLimit(
  {
    clock,
    signal,
    idleMs,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly idleMs: () => number },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const idle = new IdleError('no event');
  let cancel = (): void => undefined;
  const arm = (): void => {
    const leftMs = IDLE_MS - idleMs();
    if (leftMs <= 0) ending.abort(idle);
    else cancel = clock.after(leftMs, arm);
  };
  arm();
  try {
    await work(either);
  } catch (error) {
    if (either.reason !== idle) throw error;
  } finally {
    cancel();
  }
  if (either.reason === idle) throw idle;
}
