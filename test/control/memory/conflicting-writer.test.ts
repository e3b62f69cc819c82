import { describe, expect, it } from '@jest/globals';
import {
  afterRead,
  afterOwnWrite,
  conflictingWriterOf,
  NO_REVERSALS,
} from '../../../src/control/memory/conflicting-writer.js';
import type { WriterWatch } from '../../../src/control/memory/conflicting-writer.js';
import { failure } from '../fake-cluster.js';
import { at, Fixture } from '../fixture.js';

/** promscaler sets 8 repeatedly; at each of these seconds the count is 5, set by `manager`. */
function reversedAt(seconds: readonly number[], manager = 'kubectl'): WriterWatch {
  return seconds.reduce((watch, second) => {
    const managers = ['promscaler', manager];
    return afterRead(afterOwnWrite(watch, 8), { replicas: 5, managers, now: at(second) });
  }, NO_REVERSALS);
}

describe('three reversals', () => {
  it.each([
    [[0, 300, 600], true],
    [[0, 300, 601], false],
    [[0, 600], false],
    [[0, 300, 601, 700], true],
  ])('at %p s are a conflict: %p', (seconds, isConflict) => {
    const watch = reversedAt(seconds);

    expect(conflictingWriterOf(watch, at(seconds.at(-1) ?? 0)) !== null).toBe(isConflict);
  });

  it.each([
    [1200, true],
    [1201, false],
  ])('up to 600 s have ended at %i s: not %p', (now, isConflict) => {
    const watch = reversedAt([0, 300, 600]);

    expect(conflictingWriterOf(watch, at(now)) !== null).toBe(isConflict);
    const later = afterRead(watch, { replicas: 5, managers: [], now: at(now) });
    expect(later.reversals).toHaveLength(isConflict ? 3 : 0);
  });

  it('remain one conflict from the beginning while one comes every 500 s', () => {
    const watch = reversedAt([0, 100, 200, 700, 1200]);

    expect(conflictingWriterOf(watch, at(1200))).toMatchObject({
      since: '2026-01-01T00:03:20Z',
      count: 5,
      last: '2026-01-01T00:20:00Z',
      until: '2026-01-01T00:30:00Z',
    });
  });

  it('by a tool that syncs every 3 minutes are one conflict without a gap', () => {
    const syncs = Array.from({ length: 10 }, (_, sync) => 180 * sync);

    const found = syncs.map((second, sync) =>
      conflictingWriterOf(reversedAt(syncs.slice(0, sync + 1)), at(second + 179)),
    );

    expect(found.map((one) => one?.since)).toEqual([
      undefined,
      undefined,
      ...Array.from({ length: 8 }, () => '2026-01-01T00:06:00Z'),
    ]);
  });

  it('name the writer, unless that is promscaler; another client if managedFields names none', () => {
    const named = conflictingWriterOf(reversedAt([0, 1, 2], 'argocd-controller'), at(2));
    const unnamed = conflictingWriterOf(reversedAt([0, 1, 2], 'promscaler'), at(2));

    expect(named?.managers).toEqual(['argocd-controller']);
    expect(named?.message).toBe(
      'argocd-controller changed spec.replicas after promscaler 3 times since 2026-01-01T00:00:00Z, last at 2026-01-01T00:00:02Z: allow only one client to set spec.replicas',
    );
    expect(unnamed?.message).toMatch(/^another client changed/);
  });
});

describe('a cycle', () => {
  it('at the own count, or without a change, is not a reversal and returns the same value', () => {
    const watch = afterOwnWrite(NO_REVERSALS, 8);

    expect(afterRead(watch, { replicas: 8, managers: ['kubectl'], now: at(0) })).toBe(watch);
    expect(afterRead(NO_REVERSALS, { replicas: 8, managers: ['kubectl'], now: at(0) })).toBe(NO_REVERSALS);
  });

  it('counts one change once, however often it is read', () => {
    const watch = reversedAt([0]);

    expect(afterRead(watch, { replicas: 3, managers: ['kubectl'], now: at(15) })).toBe(watch);
  });
});

/** Runs cycles in which another client has set 5 again before each except the first. */
async function reverted(fixture: Fixture, times: number, manager = 'kubectl'): Promise<readonly unknown[]> {
  fixture.load = 80;
  const found = [(await fixture.nextCycle()).record.conflictingWriter];
  for (let count = 0; count < times; count += 1) {
    fixture.cluster.setReplicas(5, manager);
    found.push((await fixture.nextCycle()).record.conflictingWriter);
  }
  return found;
}

describe('cycles whose count another client reverts', () => {
  it('report it at the third time, continue to scale, and report nothing 10 minutes after the last', async () => {
    const fixture = new Fixture();

    const found = await reverted(fixture, 3, 'argocd-controller');
    fixture.clock.advance(600_000);
    const still = await fixture.cycle();
    fixture.clock.advance(1000);
    const over = await fixture.cycle();

    expect(found.map((one) => one !== undefined)).toEqual([false, false, false, true]);
    expect(found[3]).toMatchObject({ managers: ['argocd-controller'], since: '2026-01-01T00:01:00Z' });
    expect(fixture.cluster.arrived.map(({ replicas }) => replicas)).toEqual([8, 8, 8, 8]);
    expect(still.record.conflictingWriter).toBeDefined();
    expect(over.record.conflictingWriter).toBeUndefined();
  });

  it('report it also while the target cannot be read', async () => {
    const fixture = new Fixture();
    await reverted(fixture, 3);
    fixture.cluster.targetFailure = failure('server_error');

    expect((await fixture.nextCycle()).record.conflictingWriter).toBeDefined();
  });

  it('count a change between the decision and the PATCH', async () => {
    const fixture = new Fixture();
    await reverted(fixture, 2);
    fixture.load = 100;
    fixture.cluster.beforeReads.push(() => fixture.cluster.setReplicas(5));

    await fixture.nextCycle();

    expect(fixture.memory.writer.reversals).toHaveLength(3);
  });

  it('do not count a change whose answer was lost, nor its own later steps', async () => {
    const fixture = new Fixture();
    for (const load of [60, 70, 80, 90]) {
      fixture.load = load;
      fixture.cluster.patchScripts.push((apply) => {
        apply();
        throw failure('timeout');
      });
      await fixture.nextCycle();
      await fixture.nextCycle();
    }

    expect(fixture.cluster.specReplicas).toBe(9);
    expect(fixture.memory.writer).toEqual({ ...NO_REVERSALS, own: 9 });
  });

  it('restart with another target of the same name', async () => {
    const fixture = new Fixture();
    await reverted(fixture, 3);
    fixture.cluster.recreate('uid-2', 5);

    expect((await fixture.nextCycle()).record.conflictingWriter).toBeUndefined();
  });
});
