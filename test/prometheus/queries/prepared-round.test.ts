import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createRoundPreparation,
  type PreparedRound,
} from '../../../src/prometheus/queries/prepared-round.js';
import type { DueScaler } from '../../../src/prometheus/queries/round-plan.js';
import type { MetricSpec, Scaler } from '../../../src/scaler/spec.js';
import { aScaler, aSource, cpuMetric, externalMetric } from '../../support/builders.js';

const sources = new Map(
  ['default', 'other'].map((name) => {
    const cpu = 'sum by (namespace, pod, container) (rate(cpu{namespace=~"$namespaces"}[$window]))';
    return [name, aSource({ name, resourceQueries: { cpu } })] as const;
  }),
);

/** Metrics with a query that several scalers share, one of their own, checks, a resource and an unknown source. */
const METRICS: readonly (readonly MetricSpec[])[] = [
  [cpuMetric],
  [cpuMetric, { ...cpuMetric, source: 'other' }],
  [externalMetric({ query: 'sum(shared)' })],
  [externalMetric({ query: 'sum(queue{name="$name"})' }), cpuMetric],
  [externalMetric({ query: 'sum(a)', guard: 'sum(shared)', source: 'other' })],
  [externalMetric({ source: 'unknown' })],
  [],
];

function prepareWith(preparation = createRoundPreparation()) {
  return (due: readonly DueScaler[]): { readonly round: PreparedRound; readonly steps: number } => {
    const work = preparation.prepare(due, sources);
    for (let steps = 0; ; steps += 1) {
      const next = work.next();
      if (next.done === true) return { round: next.value, steps };
    }
  };
}

/** Everything with its order. */
function contentsOf(round: PreparedRound): unknown {
  return {
    ...round,
    needs: [...round.needs],
    suspects: [...round.suspects],
    resources: round.resources.map(([key, one]) => [key, { ...one, namespaces: [...one.namespaces] }]),
  };
}

interface Edit {
  readonly slot: number;
  readonly metrics: number | null;
}

const editsArbitrary = fc.array(
  fc.record({
    periodSeconds: fc.constantFrom(5, 15, 30),
    edits: fc.array(
      fc.record({
        slot: fc.integer({ min: 0, max: 11 }),
        metrics: fc.option(fc.integer({ min: 0, max: METRICS.length - 1 })),
      }),
      { maxLength: 3 },
    ),
  }),
  { maxLength: 12 },
);

/** Adds, replaces or (without metrics) removes the scaler of a slot. */
function applyEdit(fleet: Map<number, Scaler>, { slot, metrics }: Edit): void {
  if (metrics === null) fleet.delete(slot);
  else fleet.set(slot, aScaler(METRICS[metrics] ?? [], `team-${slot % 3}`, `web-${slot}`));
}

describe('createRoundPreparation', () => {
  it('returns what a fresh preparation returns, in the same order, after any additions, changes and removals', () => {
    fc.assert(
      fc.property(editsArbitrary, (rounds) => {
        const prepare = prepareWith();
        const fleet = new Map<number, Scaler>();
        for (const { periodSeconds, edits } of rounds) {
          for (const edit of edits) applyEdit(fleet, edit);
          const due = Array.from(fleet.values(), (scaler) => ({ scaler, periodSeconds }));

          const kept = prepare(due).round;

          expect(contentsOf(kept)).toEqual(contentsOf(prepareWith()(due).round));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('returns the same object in no step for the same documents, and prepares a replaced one', () => {
    const prepare = prepareWith();
    const fleet = [0, 1, 2].map((slot) => aScaler([cpuMetric], 'shop', `web-${slot}`));
    const dueOf = (scalers: readonly Scaler[], periodSeconds = 15): readonly DueScaler[] =>
      scalers.map((scaler) => ({ scaler, periodSeconds }));
    const first = prepare(dueOf(fleet));
    const replaced = [...fleet.slice(0, 2), aScaler([], 'shop', 'web-2')];

    expect(first.steps).toBeGreaterThanOrEqual(3);
    expect(prepare(dueOf(fleet))).toEqual({ round: first.round, steps: 0 });
    expect(prepare(dueOf(fleet)).round).toBe(first.round);
    expect(prepare(dueOf(replaced)).round).not.toBe(first.round);
    expect(prepare(dueOf(fleet.slice(0, 2))).round.needs.size).toBe(2);
  });

  it('builds the queries of a document once, also between rounds of new scalers alone', () => {
    const prepare = prepareWith();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => aScaler([cpuMetric], 'shop', name));
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('none');
    const neededIn = (...scalers: readonly Scaler[]) => {
      const { needs } = prepare(scalers.map((scaler) => ({ scaler, periodSeconds: 15 }))).round;
      return scalers.map((scaler) => needs.get(scaler));
    };
    const [ofA, ofB] = neededIn(a, b);
    neededIn(c);
    const [ofD] = neededIn(d);
    const all = neededIn(a, b, d);

    expect(all[0]).toBe(ofA);
    expect(all[1]).toBe(ofB);
    expect(all[2]).toBe(ofD);
  });

  it('forgets the queries of removed documents after two rounds without them', () => {
    const prepare = prepareWith();
    const [kept, removed] = [aScaler([cpuMetric], 'shop', 'a'), aScaler([cpuMetric], 'shop', 'b')];
    const dueOf = (...scalers: readonly Scaler[]) => scalers.map((scaler) => ({ scaler, periodSeconds: 15 }));
    const first = prepare(dueOf(kept, removed)).round.needs.get(removed);
    prepare(dueOf(kept));
    const after1 = prepare(dueOf(kept, removed)).round.needs.get(removed);
    prepare(dueOf(kept));
    prepare(dueOf(kept));
    const after2 = prepare(dueOf(kept, removed)).round.needs.get(removed);

    expect(after1).toBe(first);
    expect(after2).not.toBe(first);
    expect(after2).toEqual(first);
  });

  it('keeps the rounds of the last 4 periods', () => {
    const prepare = prepareWith();
    const scaler = aScaler([cpuMetric]);
    const periods = [5, 10, 15, 20, 25];
    const first = periods.map((periodSeconds) => prepare([{ scaler, periodSeconds }]).round);

    const isKept = periods
      .map((periodSeconds, index) => ({ periodSeconds, round: first[index] }))
      .toReversed()
      .map(({ periodSeconds, round }) => prepare([{ scaler, periodSeconds }]).round === round);

    expect(isKept).toEqual([true, true, true, true, false]);
  });
});
