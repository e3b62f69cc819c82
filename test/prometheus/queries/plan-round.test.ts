import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createRoundPlanner,
  type Plan,
  type PlannedQuery,
} from '../../../src/prometheus/queries/plan-round.js';
import type { MetricSpec, Scaler } from '../../../src/scaler/spec.js';
import type { Clock } from '../../../src/units/clock.js';
import { aSource, cpuMetric, externalMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { due } from '../round-fixture.js';

const sources = new Map(
  ['default', 'other'].map((name) => {
    const cpu = 'sum by (namespace, pod, container) (rate(cpu{namespace=~"$namespaces"}[$window]))';
    return [name, aSource({ name, resourceQueries: { cpu } })] as const;
  }),
);
const podsMetric: MetricSpec = {
  type: 'Pods',
  name: 'rps',
  identity: 'rps',
  source: 'default',
  query: 'sum by (pod) (rate(requests_total{namespace="$namespace", pod=~"$pods"}[1m]))',
  selector: [],
  target: { type: 'AverageValue', milli: 1000n },
};

/** Metrics with a query that several scalers share, one of their own, checks, merged ones and an unknown source. */
const METRICS: readonly (readonly MetricSpec[])[] = [
  [cpuMetric],
  [cpuMetric, { ...cpuMetric, source: 'other' }],
  [externalMetric({ query: 'sum(shared)' })],
  [externalMetric({ query: 'sum(queue{name="$name"})' }), cpuMetric],
  [externalMetric({ query: 'sum(a)', guard: 'sum(shared)', source: 'other' })],
  [podsMetric, externalMetric({ query: 'sum(b)', guard: 'sum(b)' })],
  [externalMetric({ source: 'unknown' })],
  [],
];
const PERIODS = [5, 15, 30];

function plannerOf(clock: Clock = new ManualClock()) {
  const faults: unknown[] = [];
  const { compile, planFor } = createRoundPlanner(clock, (error) => faults.push(error));
  return {
    faults,
    compile: (scalers: readonly Scaler[], settings = sources) => compile(scalers, settings),
    planFor: (due: readonly Scaler[], settings = sources) => planFor(due, settings),
  };
}

/** Everything but what merged queries have learned. */
function contentsOf(plan: Plan): unknown {
  const parts = (query: PlannedQuery): unknown =>
    query.kind === 'alone' ? query : { ...query, merged: undefined };
  return { ...plan, queries: plan.queries.map(parts), rankings: plan.rankings.map(parts) };
}

const editsArbitrary = fc.array(
  fc.array(
    fc.record({
      slot: fc.integer({ min: 0, max: 11 }),
      metrics: fc.option(fc.integer({ min: 0, max: METRICS.length - 1 })),
      period: fc.constantFrom(...PERIODS),
    }),
    { maxLength: 4 },
  ),
  { maxLength: 8 },
);

describe('the plan of a round', () => {
  it('is the one of a fresh planner after any additions, changes and removals, for all and for some', async () => {
    await fc.assert(
      fc.asyncProperty(editsArbitrary, async (reloads) => {
        const planner = plannerOf();
        const fleet = new Map<number, Scaler>();
        for (const edits of reloads) {
          for (const { slot, metrics, period } of edits)
            if (metrics === null) fleet.delete(slot);
            else fleet.set(slot, due(METRICS[metrics] ?? [], `team-${slot % 3}`, `web-${slot}`, period));
          await planner.compile([...fleet.values()]);
          for (const period of PERIODS) {
            const all = [...fleet.values()].filter(({ spec }) => spec.syncPeriodSeconds === period);
            const few = all.slice(0, Math.ceil(all.length / 2) - 1);
            for (const some of [all, few])
              expect(contentsOf(await planner.planFor(some))).toEqual(
                contentsOf(await plannerOf().planFor(some)),
              );
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has each distinct query once, and waits for the answers to metrics and their checks', async () => {
    const [a, b, c] = [
      due([externalMetric({ query: 'sum(x)', guard: 'sum(y)' })], 'shop', 'a'),
      due([externalMetric({ query: 'sum(y)' }), cpuMetric], 'shop', 'b'),
      due([podsMetric, cpuMetric], 'pay', 'c'),
    ];
    const plan = await plannerOf().planFor([a, b, c]);

    expect(plan.queries.map(({ kind }) => kind)).toEqual(['alone', 'alone', 'byNamespace', 'byPod']);
    expect(plan.scalers.map(({ awaited }) => awaited.length)).toEqual([2, 2, 2]);
    expect([...plan.waiting.values()]).toEqual([[0], [0, 1], [1], [2], [2]]);
  });

  it('has all 4 scalers if 2 or 3 of them are due, and only the due one if 1 is due', async () => {
    const planner = plannerOf();
    const all = ['a', 'b', 'c', 'd'].map((name) => due([cpuMetric], 'shop', name));
    await planner.compile(all);
    const whole = await planner.planFor(all);

    expect(await planner.planFor(all.slice(0, 3))).toBe(whole);
    expect(await planner.planFor(all.slice(2))).toBe(whole);
    expect((await planner.planFor(all.slice(3))).scalers.map(({ scaler }) => scaler)).toEqual(all.slice(3));
    expect(await planner.planFor(all)).toBe(whole);
  });

  it('is the same object until the scalers or the settings of a source are other ones', async () => {
    const planner = plannerOf();
    const [a, b] = [due([cpuMetric], 'shop', 'a'), due([cpuMetric], 'shop', 'b')];
    await planner.compile([a, b]);
    const first = await planner.planFor([a, b]);

    expect(await planner.planFor([a, b])).toBe(first);
    const others = new Map([
      ...sources,
      [
        'default',
        aSource({
          resourceQueries: sources.get('default')?.resourceQueries ?? {},
          resourceWindowSeconds: 480,
        }),
      ],
    ]);
    const second = await planner.planFor([a, b], others);
    expect(second).not.toBe(first);
    expect(second.queries[0]?.source.resourceWindowSeconds).toBe(480);
    expect(await planner.planFor([a, b], others)).toBe(second);
    await planner.compile([a, b], others);
    expect(await planner.planFor([a, b], others)).not.toBe(second);
  });

  it('compiles the queries of a document once', async () => {
    const planner = plannerOf();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => due([podsMetric], 'shop', name));
    if (a === undefined || b === undefined || c === undefined) throw new Error('none');
    await planner.compile([a, b]);
    const before = await planner.planFor([a, b]);
    await planner.compile([b, c]);
    const after = await planner.planFor([b, c]);

    expect(after.queriesOf.get(b)).toBe(before.queriesOf.get(b));
    expect(after.queriesOf.has(a)).toBe(false);
  });
});

describe('what a merged query has learned', () => {
  const mergedOf = ({ queries }: Plan): readonly unknown[] =>
    queries.map((query) => (query.kind === 'alone' ? null : query.merged));

  it('is kept while a scaler needs the query, also in rounds of some scalers', async () => {
    const planner = plannerOf();
    const [a, b] = [due([cpuMetric, podsMetric], 'shop', 'a'), due([cpuMetric, podsMetric], 'shop', 'b')];
    await planner.compile([a]);
    const first = mergedOf(await planner.planFor([a]));
    await planner.compile([a, b]);

    expect(mergedOf(await planner.planFor([a, b]))[0]).toBe(first[0]);
    expect(mergedOf(await planner.planFor([b]))[0]).toBe(first[0]);
    expect(mergedOf(await planner.planFor([b]))[1]).toBe(first[1]);
  });

  it('is dropped with the last scaler that needs it', async () => {
    const planner = plannerOf();
    const scaler = due([cpuMetric, podsMetric]);
    await planner.compile([scaler]);
    const [cpu, pods] = mergedOf(await planner.planFor([scaler]));
    await planner.compile([]);
    await planner.compile([scaler]);
    const [cpuAfter, podsAfter] = mergedOf(await planner.planFor([scaler]));

    expect([cpuAfter === cpu, podsAfter === pods]).toEqual([false, false]);
  });

  it('is not shared by scalers with another sync period, which are not always due at the same time', async () => {
    const planner = plannerOf();
    const [often, seldom] = [due([podsMetric], 'shop', 'a'), due([podsMetric], 'shop', 'b', 60)];
    await planner.compile([often, seldom]);

    const [one] = mergedOf(await planner.planFor([often]));
    const [other] = mergedOf(await planner.planFor([seldom]));
    expect(one === other).toBe(false);
  });
});

describe('the planner', () => {
  it('yields every 20 ms', async () => {
    let usedMs = 0;
    let turns = 0;
    const after = (_ms: number, callback: () => void): (() => void) => {
      turns += 1;
      void Promise.resolve().then(callback);
      return () => undefined;
    };
    const { now, random } = new ManualClock();
    const { compile } = plannerOf({ now, random, after, monotonicMs: () => (usedMs += 7) });

    await compile(Array.from({ length: 9 }, (_, index) => due([cpuMetric], 'shop', `web-${index}`)));

    expect(turns).toBe(3);
  });

  it('reports a defect in the queries of one scaler, which then has no value, and compiles the others', async () => {
    const broken = { ...due([cpuMetric], 'shop', 'a') };
    const spec = {
      ...broken.spec,
      get podDeletionCost(): never {
        throw new Error('defect');
      },
    };
    const { compile, planFor, faults } = plannerOf();
    const [one, other] = [{ ...broken, spec }, due([cpuMetric], 'shop', 'b')];
    await compile([one, other]);
    const plan = await planFor([one, other]);

    expect(faults).toEqual([new Error('defect')]);
    expect(plan.scalers.map(({ metrics }) => metrics[0]?.kind)).toEqual(['refused', 'byNamespace']);
  });
});
