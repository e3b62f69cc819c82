import { describe, expect, it } from '@jest/globals';
import { createDecisionRecord } from '../../src/recording/decision-record.js';
import type { DecisionRecord } from '../../src/recording/decision-record.js';
import { parseRecordLine } from '../../src/recording/record-line.js';
import type { CycleRecord, OutcomeKind } from '../../src/telemetry/cycle-record.js';
import { at } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { record } from '../telemetry/record-builder.js';

/** A record that is written to memory, as fast as `disk` allows. */
class Fixture {
  readonly clock = new ManualClock();
  readonly lines: string[] = [];
  readonly logged: string[] = [];
  readonly counts = { written: 0, dropped: 0, errors: 0 };
  disk: 'fine' | 'full' | 'hanging' = 'fine';
  readonly #resume: (() => void)[] = [];

  open(which: 'changes' | 'all' = 'all', maxFileBytes = 1024 * 1024): DecisionRecord {
    const note = (message: string): void => void this.logged.push(message);
    return createDecisionRecord({
      path: '/record.ndjson',
      which,
      maxFileBytes,
      append: async (lines) => {
        if (this.disk === 'hanging') await new Promise<void>((resolve) => this.#resume.push(resolve));
        if (this.disk === 'full') throw new Error('ENOSPC: no space left on device');
        this.lines.push(...Buffer.from(lines).toString().trimEnd().split('\n'));
      },
      version: '1.2.3',
      clock: this.clock,
      log: { debug: note, info: note, warn: note, error: note },
      report: {
        countWritten: (count) => void (this.counts.written += count),
        countDropped: (count) => void (this.counts.dropped += count),
        countWriteError: () => void (this.counts.errors += 1),
      },
    });
  }

  resume(): void {
    this.disk = 'fine';
    for (const resolve of this.#resume.splice(0)) resolve();
  }

  /** The second of each written decision. */
  seconds(): readonly number[] {
    return this.lines.map((text) => {
      const line = parseRecordLine(text);
      if ('error' in line) throw new Error(line.error);
      return (line.at - at(0)) / 1000;
    });
  }
}

const cycle = (second: number): CycleRecord => record({ at: at(second) });

function outcome(kind: OutcomeKind, from: number, to: number): CycleRecord {
  return record({ outcome: { kind, from, to, message: '' } });
}

describe('a decision record', () => {
  it('writes 3 decisions after the cycle that added them', async () => {
    const fixture = new Fixture();
    const decisions = fixture.open();

    for (const second of [0, 15, 30]) decisions.add(cycle(second), null);
    expect(fixture.lines).toEqual([]);
    await fixture.clock.advanceAndSettle(0);

    expect(fixture.seconds()).toEqual([0, 15, 30]);
    expect(fixture.counts).toEqual({ written: 3, dropped: 0, errors: 0 });
  });

  it('loses nothing while the disk is full for 100 s, and logs the failure and its end once', async () => {
    const fixture = new Fixture();
    const decisions = fixture.open();
    fixture.disk = 'full';

    for (let second = 0; second < 100; second += 10) {
      decisions.add(cycle(second), null);
      await fixture.clock.advanceAndSettle(10_000);
    }
    fixture.disk = 'fine';
    await fixture.clock.advanceAndSettle(30_000);

    expect(fixture.seconds()).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(fixture.counts.dropped).toBe(0);
    expect(fixture.counts.errors).toBeGreaterThan(3);
    expect(fixture.logged).toEqual([
      'failed to write decision record; retrying',
      'decision record is written again',
    ]);
  });

  it('counts what a disk that does not respond leaves no memory for, and continues after it', async () => {
    const fixture = new Fixture();
    const decisions = fixture.open();
    fixture.disk = 'hanging';
    decisions.add(cycle(0), null);
    await fixture.clock.advanceAndSettle(0);

    // 32 MiB at an estimate of 4 KiB each.
    for (let second = 1; second <= 9000; second += 1) decisions.add(cycle(second), null);
    expect(fixture.counts.dropped).toBe(9000 - 8192);
    fixture.resume();
    await fixture.clock.advanceAndSettle(0);
    decisions.add(cycle(9001), null);
    await fixture.clock.advanceAndSettle(0);

    expect(fixture.counts).toEqual({ written: 8194, dropped: 808, errors: 0 });
    expect(fixture.seconds().at(-1)).toBe(9001);
  });

  it('drops a decision that is longer than a file, and writes the next one', async () => {
    const fixture = new Fixture();
    const decisions = fixture.open('all', 3000);
    const long = record({ outcome: { kind: 'failed', from: 3, to: 4, message: 'x'.repeat(3000) } });

    decisions.add(long, null);
    decisions.add(cycle(15), null);
    await fixture.clock.advanceAndSettle(0);

    expect([fixture.seconds(), fixture.counts.dropped]).toEqual([[15], 1]);
  });

  it('writes what is waiting when it is closed', async () => {
    const fixture = new Fixture();
    const decisions = fixture.open();
    decisions.add(cycle(0), null);

    const closed = decisions.close();
    await fixture.clock.advanceAndSettle(0);
    await closed;

    expect(fixture.seconds()).toEqual([0]);
  });

  it.each(['full', 'hanging'] as const)('is closed within 2 s while the disk is %s', async (disk) => {
    const fixture = new Fixture();
    const decisions = fixture.open();
    fixture.disk = disk;
    decisions.add(cycle(0), null);
    await fixture.clock.advanceAndSettle(0);
    let isClosed = false;

    void decisions.close().then(() => (isClosed = true));
    await fixture.clock.advanceAndSettle(2000);

    expect(isClosed).toBe(true);
  });

  it.each([
    ['a change', outcome('patched', 3, 5), null, 1],
    ['a failed change', outcome('failed', 3, 5), outcome('failed', 3, 5), 1],
    ['a conflict', outcome('conflict', 3, 5), null, 1],
    ['no change', outcome('none', 3, 3), null, 0],
    ['the first round of a dry run', outcome('dry-run', 3, 5), outcome('none', 3, 3), 1],
    ['the next round of a dry run', outcome('dry-run', 3, 5), outcome('dry-run', 3, 5), 0],
    ['another count in a dry run', outcome('dry-run', 3, 6), outcome('dry-run', 3, 5), 1],
  ])('of changes has %s: %j', async (_, now, before, lines) => {
    const fixture = new Fixture();
    const decisions = fixture.open('changes');

    decisions.add(now, before);
    await fixture.clock.advanceAndSettle(0);

    expect(fixture.lines.length).toBe(lines);
  });
});
