import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { type Instant, secondsBetween } from '../../../src/units/time.js';
import { failure } from '../fake-cluster.js';
import { answersFrom, Fixture } from '../fixture.js';

const WINDOW_SECONDS = 60;

/** Faults of one cycle. `late...`: the answer is lost and the PATCH takes effect that many cycles later. */
const FAULTS = [
  'none',
  'answer lost',
  'request lost',
  'late by 1',
  'late by 2',
  'late, with the next',
  'refused',
  'busy',
  'foreign change before',
  'foreign change between',
  'recreated',
  'watch behind',
  'watch quiet',
  'no series',
  'target unreadable',
  'live read fails',
] as const;

interface Step {
  readonly fault: (typeof FAULTS)[number];
  readonly load: number;
}

/** An accepted change; its PATCH was sent at `sentAt`, possibly long before. */
interface Accepted {
  readonly from: number;
  readonly to: number;
  readonly uid: string;
  readonly sentAt: Instant;
}

/** Runs a history of faulty cycles and keeps the log that the invariants are checked on. */
class History {
  readonly fixture = new Fixture({
    upscaleForbiddenWindowSeconds: WINDOW_SECONDS,
    downscaleForbiddenWindowSeconds: WINDOW_SECONDS,
  });
  readonly accepted: Accepted[] = [];
  readonly records: (readonly [Step, CycleRecord])[] = [];
  #sentAt = this.fixture.clock.now();
  #late: { due: number; readonly run: () => void }[] = [];
  /** The count at the start of the last cycle. */
  #shown = 5;

  constructor() {
    this.fixture.cluster.onAccepted = (change) => this.accepted.push({ ...change, sentAt: this.#sentAt });
  }

  async run(step: Step): Promise<void> {
    const { fixture } = this;
    const { cluster } = fixture;
    fixture.clock.advance(15_000);
    this.#runLate();
    this.#sentAt = fixture.clock.now();
    cluster.statusReplicas = cluster.specReplicas;
    fixture.load = step.load;
    this.#begin(step);
    this.#shown = cluster.specReplicas;
    const { record } = await fixture.cycle();
    this.records.push([step, record]);
    cluster.patchScripts.length = 0;
    cluster.beforeReads.length = 0;
    cluster.targetFailure = null;
    cluster.readFailure = null;
    cluster.watchedReplicas = null;
    cluster.ageSeconds = 0;
    fixture.answers = null;
  }

  #begin({ fault }: Step): void {
    const { cluster } = this.fixture;
    switch (fault) {
      case 'none':
        return;
      case 'answer lost':
        cluster.patchScripts.push((apply) => {
          apply();
          throw failure('timeout');
        });
        return;
      case 'request lost':
        cluster.patchScripts.push(() => Promise.reject(failure('connection')));
        return;
      case 'late by 1':
        this.#pushLate(1);
        return;
      case 'late by 2':
        this.#pushLate(2);
        return;
      case 'late, with the next':
        this.#pushLate(Number.POSITIVE_INFINITY);
        return;
      case 'refused':
        cluster.patchScripts.push(() => Promise.reject(failure('forbidden')));
        return;
      case 'busy':
        cluster.patchScripts.push((apply) => {
          cluster.touch();
          return apply();
        });
        return;
      case 'foreign change before':
        cluster.beforeReads.push(() => this.#setByHand());
        return;
      case 'foreign change between':
        cluster.patchScripts.push((apply) => {
          this.#setByHand();
          return apply();
        });
        return;
      case 'recreated':
        cluster.recreate(`${cluster.uid}+`);
        return;
      case 'watch behind':
        cluster.watchedReplicas = this.#shown;
        return;
      case 'watch quiet':
        cluster.ageSeconds = 181;
        return;
      case 'no series':
        this.fixture.answers = answersFrom([{ class: 'missing', message: 'no series' }]);
        return;
      case 'target unreadable':
        cluster.targetFailure = failure('timeout');
        return;
      case 'live read fails':
        cluster.readFailure = failure('timeout');
        return;
      default:
        fault satisfies never;
    }
  }

  /** Sets a count that no decision results in: 19 or, if that is the current one, 18. */
  #setByHand(): void {
    const { cluster } = this.fixture;
    cluster.setReplicas(cluster.specReplicas === 19 ? 18 : 19);
  }

  #pushLate(cycles: number): void {
    const { cluster } = this.fixture;
    const sentAt = this.#sentAt;
    cluster.patchScripts.push((apply) => {
      const run = (): void => {
        const present = this.#sentAt;
        // No API server works on a request for longer.
        if (secondsBetween(sentAt, present) >= 60) return;
        this.#sentAt = sentAt;
        try {
          apply();
        } catch {
          // Another PATCH was faster: this one has a stale resourceVersion.
        }
        this.#sentAt = present;
      };
      this.#late.push({ due: cycles, run });
      throw failure('server_error', '504 Gateway Timeout');
    });
  }

  #runLate(): void {
    for (const entry of this.#late) entry.due -= 1;
    const arriving = this.#late.filter(({ due }) => due <= 0);
    this.#late = this.#late.filter(({ due }) => due > 0);
    for (const { run } of arriving) run();
    // Waiting PATCHes arrive just before the next one.
    if (this.#late.length === 0) return;
    this.fixture.cluster.patchScripts.push((apply) => {
      const waiting = this.#late;
      this.#late = [];
      for (const { run } of waiting) run();
      return apply();
    });
  }
}

/** Returns pairs of neighbors among the changes of one object in one direction. */
function neighbors(accepted: readonly Accepted[], direction: 1 | -1): (readonly [Accepted, Accepted])[] {
  const pairs: (readonly [Accepted, Accepted])[] = [];
  const last = new Map<string, Accepted>();
  for (const change of accepted) {
    if (Math.sign(change.to - change.from) !== direction) continue;
    const before = last.get(change.uid);
    if (before !== undefined) pairs.push([before, change]);
    last.set(change.uid, change);
  }
  return pairs;
}

const STEP = fc.record({
  fault: fc.oneof({ weight: 2, arbitrary: fc.constant('none' as const) }, fc.constantFrom(...FAULTS)),
  load: fc.constantFrom(10, 30, 50, 80, 120, 160),
});

describe('any history of faulty cycles', () => {
  it('keeps bounds, windows of 60 s and trust, and reaches the right count after the last fault', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 10, maxLength: 40 }), async (steps) => {
        const history = new History();
        for (const step of steps) await history.run(step);
        const { accepted, records, fixture } = history;

        for (const { from, to } of accepted) {
          expect(to).not.toBe(from);
          expect(to).toBeGreaterThanOrEqual(1);
          expect(to).toBeLessThanOrEqual(20);
        }
        for (const [before, after] of [...neighbors(accepted, 1), ...neighbors(accepted, -1)]) {
          expect(Math.abs(secondsBetween(before.sentAt, after.sentAt))).toBeGreaterThan(WINDOW_SECONDS);
        }
        for (const [{ fault }, { decision }] of records) {
          if (decision?.action === 'scale-down') expect(['no series', 'watch quiet']).not.toContain(fault);
        }

        for (let count = 0; count < 20; count += 1) await history.run({ fault: 'none', load: 100 });
        expect(fixture.cluster.specReplicas).toBe(10);
        const before = fixture.cluster.arrived.length;
        for (let count = 0; count < 5; count += 1) await history.run({ fault: 'none', load: 100 });
        expect(fixture.cluster.arrived).toHaveLength(before);
      }),
      { numRuns: 150 },
    );
  });
});
