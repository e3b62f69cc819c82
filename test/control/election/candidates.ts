import { createElection } from '../../../src/control/election/election.js';
import type { ElectionTimes } from '../../../src/control/election/election-rules.js';
import { newIdentity } from '../../../src/control/election/election-rules.js';
import type { Election } from '../../../src/control/election/leadership.js';
import type { LeaseClient, LeaseSpec, SeenLease } from '../../../src/kubernetes/lease.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import type { Log } from '../../../src/units/log.js';
import { withDeadline } from '../../../src/units/clock.js';
import type { Clock } from '../../../src/units/clock.js';
import { addSeconds, type Instant } from '../../../src/units/time.js';
import { ManualClock } from '../../support/manual-clock.js';
import { sendWithFate } from './bad-network.js';

export const TIMES: ElectionTimes = {
  leaseDurationSeconds: 15,
  renewDeadlineSeconds: 10,
  retryPeriodSeconds: 2,
};

/** The clock of one process, with its own wall time; the process can be stopped. */
export class ProcessClock implements Clock {
  /** Returned by `random`. */
  chance: () => number = () => 0;
  skewSeconds = 0;
  #pausedMs = 0;
  #stoppedAtMs: number | null = null;
  #waiting: (() => void)[] = [];
  readonly #base: ManualClock;

  constructor(base: ManualClock) {
    this.#base = base;
  }

  readonly now = (): Instant => addSeconds(this.#base.now(), this.skewSeconds);
  readonly monotonicMs = (): number => this.#base.monotonicMs() - this.#pausedMs;
  readonly random = (): number => this.chance();

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const dueMs = this.monotonicMs() + ms;
    let isOff = false;
    let cancel = (): void => undefined;
    const fire = (): void => {
      if (isOff) return;
      // After a pause of the machine the monotonic clock is behind: the timer still has to wait.
      if (this.monotonicMs() < dueMs - 0.001) arm();
      else callback();
    };
    const arm = (): void => {
      cancel = this.#base.after(dueMs - this.monotonicMs(), () => this.whenRunning(fire));
    };
    arm();
    return () => {
      isOff = true;
      cancel();
    };
  };

  /** Runs at once, or when the process continues. */
  whenRunning(callback: () => void): void {
    if (this.#stoppedAtMs === null) callback();
    else this.#waiting.push(callback);
  }

  /** Stops the process, as SIGSTOP does. */
  stop(): void {
    this.#stoppedAtMs ??= this.#base.monotonicMs();
  }

  /**
   * Continues the process, as SIGCONT does. `standsStill`: as a resumed virtual machine whose monotonic clock has not
   * advanced.
   */
  goOn(standsStill = false): void {
    if (this.#stoppedAtMs !== null && standsStill)
      this.#pausedMs += this.#base.monotonicMs() - this.#stoppedAtMs;
    this.#stoppedAtMs = null;
    for (const callback of this.#waiting.splice(0)) callback();
  }
}

/** The fate of a request: how long it and its answer take, and which of them is lost. */
export interface Fate {
  readonly thereMs?: number;
  readonly backMs?: number;
  readonly lost?: 'request' | 'answer';
  /** The server rejects the request without checking the Lease. */
  readonly refused?: KubernetesErrorKind;
}

type Verb = 'get' | 'create' | 'update';

/** A request that the server applied. */
export interface Applied {
  readonly atMs: number;
  readonly by: string;
  readonly verb: Verb;
  readonly spec: LeaseSpec | null;
  readonly isDone: boolean;
}

/** The time of processes and their server. */
export class SimulatedTime {
  readonly clock = new ManualClock();
  /** Called after every event. */
  onStep: () => void = () => undefined;

  get seconds(): number {
    return this.clock.monotonicMs() / 1000;
  }

  /** Advances the time. */
  async pass(seconds: number): Promise<void> {
    const endMs = this.clock.monotonicMs() + seconds * 1000;
    await this.#settle();
    for (let next = this.clock.nextMs; next !== null; next = this.clock.nextMs) {
      if (this.clock.monotonicMs() + next > endMs) break;
      this.clock.advance(next);
      await this.#settle();
    }
    this.clock.advance(endMs - this.clock.monotonicMs());
    await this.#settle();
  }

  /** Advances the time until `condition` holds and returns the seconds it took; throws after `limit` seconds. */
  async passUntil(condition: () => boolean, limit = 120): Promise<number> {
    const start = this.seconds;
    await this.#settle();
    while (!condition()) {
      if (this.seconds - start > limit) throw new Error(`it did not come about within ${limit} s`);
      const next = this.clock.nextMs;
      if (next === null) throw new Error('nothing will happen any more');
      this.clock.advance(next);
      await this.#settle();
    }
    return this.seconds - start;
  }

  async #settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.onStep();
  }
}

/** A Lease on a server, and processes that contend for it in simulated time. */
export class Candidates extends SimulatedTime {
  readonly all: Candidate[] = [];
  readonly applied: Applied[] = [];
  lease: LeaseSpec | null = null;
  revision = 1;

  add(name: string, times: ElectionTimes = TIMES): Candidate {
    const candidate = new Candidate(this, name, times);
    this.all.push(candidate);
    return candidate;
  }

  /** Sets the Lease as another client; null deletes it. */
  edit(spec: LeaseSpec | null): void {
    this.lease = spec;
    this.revision += 1;
  }

  apply(by: string, verb: Verb, request: { spec: LeaseSpec | null; revision: number }): SeenLease | null {
    const isDone = this.#isFine(verb, request.revision);
    const { spec } = request;
    this.applied.push({ atMs: this.clock.monotonicMs(), by, verb, spec, isDone });
    if (!isDone) throw new KubernetesError('conflict', `${verb} of the Lease: 409 Conflict`);
    if (verb !== 'get') this.edit(spec);
    return this.lease === null ? null : seen(this.lease, this.revision);
  }

  #isFine(verb: Verb, revision: number): boolean {
    if (verb === 'get') return true;
    return verb === 'create' ? this.lease === null : this.lease !== null && revision === this.revision;
  }
}

function seen(spec: LeaseSpec, revision: number): SeenLease {
  return { spec, rawSpec: JSON.stringify(spec), object: { metadata: { resourceVersion: String(revision) } } };
}

/** One process that contends. Its work is to lead until its signal is aborted. */
export class Candidate {
  readonly name: string;
  readonly identity: string;
  readonly clock: ProcessClock;
  readonly election: Election;
  readonly stop = new AbortController();
  readonly log: (readonly [string, string])[] = [];
  readonly terms: string[] = [];
  /** Starts (true) and ends (false) of terms, as reported by `onChange`. */
  readonly changes: boolean[] = [];
  /** The fate of its next requests. */
  fate: (verb: Verb) => Fate = () => ({});
  /** Whether a change of replicas is in progress. */
  isBusy = false;
  /** Its work while it leads. */
  work: (signal: AbortSignal) => Promise<void> = (signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  ended: Promise<unknown> = Promise.resolve();
  readonly #fixture: Candidates;

  constructor(fixture: Candidates, name: string, times: ElectionTimes) {
    this.#fixture = fixture;
    this.name = name;
    this.clock = new ProcessClock(fixture.clock);
    this.identity = newIdentity(name, this.clock);
    this.election = createElection({
      client: this.#client(times),
      clock: this.clock,
      log: this.#logTo(),
      times,
      identity: this.identity,
      isIdle: () => !this.isBusy,
      onChange: (isLeading) => this.changes.push(isLeading),
    });
  }

  start(): this {
    this.ended = this.election
      .run(this.stop.signal, (signal) => {
        this.terms.push(this.election.epoch());
        return this.work(signal);
      })
      .catch((error: unknown) => error);
    return this;
  }

  /** Sets the seconds between its next attempts, repeating the last one. */
  waits(...seconds: readonly number[]): this {
    const left = [...seconds];
    this.clock.chance = () => ((left.length > 1 ? left.shift() : left[0]) ?? 0) / 2.4 - 1 / 1.2;
    return this;
  }

  get mayWrite(): boolean {
    return this.election.mayWrite();
  }

  /** Kills the process. */
  kill(): void {
    this.clock.stop();
  }

  logged(level: string): readonly string[] {
    return this.log.filter(([of]) => of === level).map(([, message]) => message);
  }

  #logTo(): Log {
    const to = (level: string) => (message: string) => void this.log.push([level, message]);
    return { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
  }

  #client(times: ElectionTimes): LeaseClient {
    const ask = (
      verb: Verb,
      signal: AbortSignal,
      request: { spec: LeaseSpec | null; revision: number },
    ): Promise<SeenLease | null> =>
      withDeadline(this.clock, { ms: times.renewDeadlineSeconds * 500, parent: signal }, (inner) =>
        this.#send(verb, inner, request),
      );
    return {
      name: 'monitoring/promscaler',
      read: (signal) => ask('get', signal, { spec: null, revision: 0 }),
      create: async (spec, signal) => present(await ask('create', signal, { spec, revision: 0 })),
      update: async ({ object }, spec, signal) => {
        const { resourceVersion } = object['metadata'] as { resourceVersion: string };
        return present(await ask('update', signal, { spec, revision: Number(resourceVersion) }));
      },
    };
  }

  #send(
    verb: Verb,
    signal: AbortSignal,
    request: { spec: LeaseSpec | null; revision: number },
  ): Promise<SeenLease | null> {
    const given = {
      network: this.#fixture.clock,
      process: this.clock,
      doing: `${verb} of the Lease`,
      signal,
    };
    return sendWithFate(this.fate(verb), given, () => this.#fixture.apply(this.name, verb, request));
  }
}

function present(lease: SeenLease | null): SeenLease {
  if (lease === null) throw new Error('a write answers with the Lease');
  return lease;
}
