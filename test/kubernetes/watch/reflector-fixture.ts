import { afterEach } from '@jest/globals';
import { connectTo } from '../../../src/kubernetes/access/connection.js';
import { resourceScope } from '../../../src/kubernetes/watch/list-pages.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { createObjectStore, type ObjectStore } from '../../../src/kubernetes/watch/object-store.js';
import { createPodReader, type WatchedPod } from '../../../src/kubernetes/pods/watched-pod.js';
import { createReflector, type Reflector } from '../../../src/kubernetes/watch/reflector.js';
import { createTransport } from '../../../src/kubernetes/requests/transport.js';
import { eventually, ManualClock, settle } from '../../support/manual-clock.js';
import { type Answer, FakeApiServer, list, openWatch } from '../fake-api-server.js';

export const PODS = '/api/v1/namespaces/shop/pods';

/** The answers of the server to lists and watches; each last one is repeated. */
interface Script {
  /** Default: no pods at version 7. */
  readonly lists?: readonly Answer[];
  /** Default: one that stays open without an event. */
  readonly watches?: readonly Answer[];
}

/** A watch that stays open, and a function that sends an event over it. */
export function heldWatch(): { readonly watch: Answer; readonly send: (line: unknown) => void } {
  let send: (line: unknown) => void = () => undefined;
  const watch: Answer = (response, request) => {
    openWatch()(response, request);
    send = (line) => response.write(`${JSON.stringify(line)}\n`);
  };
  return { watch, send: (line) => send(line) };
}

const running: ReflectorFixture[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((fixture) => fixture.stop()));
});

/** Starts a reflector that is stopped after the test. */
export async function startReflector(script: Script = {}): Promise<ReflectorFixture> {
  const fixture = await ReflectorFixture.create(script);
  running.push(fixture);
  return fixture;
}

/** A reflector of the pods of namespace shop against a scripted server. */
export class ReflectorFixture {
  readonly fake: FakeApiServer;
  readonly reflector: Reflector;
  readonly clock: ManualClock;
  readonly store: ObjectStore<WatchedPod>;
  readonly #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();

  private constructor(
    fake: FakeApiServer,
    reflector: Reflector,
    clock: ManualClock,
    store: ObjectStore<WatchedPod>,
  ) {
    this.fake = fake;
    this.reflector = reflector;
    this.clock = clock;
    this.store = store;
  }

  static async create({
    lists = [list('7', [])],
    watches = [openWatch()],
  }: Script): Promise<ReflectorFixture> {
    const fake = await FakeApiServer.start();
    fake.on('LIST', PODS, ...lists).on('WATCH', PODS, ...watches);
    const clock = new ManualClock();
    const store = createObjectStore<WatchedPod>();
    const reflector = createReflector<WatchedPod>({
      transport: createTransport({ connection: connectTo(fake.url), clock }),
      clock,
      log: SILENT_LOG,
      scope: resourceScope('/api/v1', 'pods', 'shop'),
      store,
      convert: createPodReader(),
    });
    const fixture = new ReflectorFixture(fake, reflector, clock, store);
    fixture.#done = reflector.run(fixture.#stop.signal);
    return fixture;
  }

  lists(): number {
    return this.fake.seen('LIST').length;
  }

  watches(): number {
    return this.fake.seen('WATCH').length;
  }

  watchedFrom(): readonly (string | undefined)[] {
    return this.fake.seen('WATCH').map(({ query }) => query['resourceVersion']);
  }

  /** Waits until the server has received N requests. */
  async until(counts: { readonly lists?: number; readonly watches?: number }): Promise<void> {
    await eventually(
      () => this.lists() >= (counts.lists ?? 0) && this.watches() >= (counts.watches ?? 0),
      JSON.stringify(counts),
    );
  }

  /** Waits until the reflector sleeps before its next attempt, and no request is in flight. */
  async paused(): Promise<void> {
    await eventually(() => this.clock.pending === 1, 'a pause');
    await settle(20);
  }

  /** Waits until the reflector sleeps before its next attempt, then moves the clock there; returns the wait. */
  async skipPause(): Promise<number> {
    await eventually(() => this.clock.pending > 0 && this.reflector.failure() !== null, 'a pause');
    await settle();
    const waitMs = this.clock.nextMs ?? 0;
    this.clock.advance(waitMs);
    return waitMs;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await this.fake.stop();
  }
}
