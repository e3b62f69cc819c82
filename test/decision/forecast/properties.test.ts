import { serialize } from 'node:v8';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide } from '../../../src/decision/decide.js';
import type { Decision } from '../../../src/decision/result/decision.js';
import { decisionToJson, snapshotToJson } from '../../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { MAX_REPLICAS } from '../../../src/units/bounds.js';
import { aDocument } from '../../support/builders.js';
import { randomRuns } from '../../support/random-runs.js';
import { scheduledSnapshots, snapshots } from '../random-snapshots.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function time(seconds: number): string {
  return new Date(NOW + seconds * 1000).toISOString();
}

const load = fc.oneof(
  { weight: 9, arbitrary: fc.double({ min: 50, max: 500, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1e-9, 1e18, 1e300) },
);

const histories = fc.record({
  leadSeconds: fc.integer({ min: 0, max: 3600 }),
  highest: fc.constantFrom(0, 300, 700, 1e300),
  seasons: fc.array(
    fc.record({ at: fc.constant(time(-86_400)), load, level: fc.double({ min: 0, max: 200, noNaN: true }) }),
    {
      minLength: 2,
      maxLength: 10,
    },
  ),
});

const states = fc.record({
  at: fc.constantFrom(time(-15), time(-4000)),
  minutes: fc
    .integer({ min: 0, max: 9 })
    .chain((count) =>
      fc
        .array(load, { minLength: count, maxLength: count })
        .map((loads) =>
          loads.map((sum, index) => ({ at: time(-60 * (loads.length - index)), sum, count: 1 })),
        ),
    ),
  reactive: fc.record({
    replicas: fc.integer({ min: 0, max: 70 }),
    lastScaleUp: fc.option(fc.constant(time(-100))),
    lastScaleDown: fc.option(fc.constant(time(-100))),
    scaleEvents: fc.constantFrom([], [{ at: time(-10), change: 3 }]),
  }),
  proposals: fc.constantFrom([], [{ at: time(-300), replicas: 9 }]),
  spent: fc.constantFrom([], [{ from: time(-21_600), reactive: 1000, added: 5, short: 2, prevented: 1 }]),
  raises: fc.constantFrom(
    [],
    [1, 2, 3].map((days) => ({ from: time(-days * 86_400), until: time(0), added: 500, prevented: 0 })),
    [{ from: time(-60), until: time(-15), added: 500, prevented: 100 }],
  ),
});

interface Json {
  readonly scaler: { readonly spec: object };
  readonly state: object;
}

type Input = readonly [Json, object, object];

const METRIC = {
  external: { metric: { name: 'rps' }, query: 'sum(rate(requests[1m]))', target: { averageValue: 10 } },
};

/** Random limits, states and pods; half of the snapshots have one metric with a full value, the others random ones. */
const bases: fc.Arbitrary<Json> = fc
  .tuple(fc.oneof(snapshots, scheduledSnapshots), fc.option(fc.double({ min: 0, max: 300, noNaN: true })))
  .map(([snapshot, rate]) => {
    if (rate === null) return snapshot;
    const { scaler } = snapshot;
    const spec = { ...scaler.spec, metrics: [METRIC], minReplicas: 1, maxReplicas: 70 };
    return { ...snapshot, scaler: { ...scaler, spec }, samples: [{ at: time(-15), values: [rate] }] };
  });

const inputs: fc.Arbitrary<Input> = fc.tuple(bases, histories, states);

function withForecast([snapshot, loadHistory, forecast]: Input, fields: object | null): object {
  const { scaler, state } = snapshot;
  const spec = { ...scaler.spec, forecast: fields };
  return {
    ...snapshot,
    scaler: { ...scaler, spec },
    ...(fields === null ? {} : { loadHistory }),
    state: fields === null ? state : { ...state, forecast },
  };
}

const decisions = new Map<string, Decision | null>();

/** Null: the document has no metric with a total load. The properties have the same inputs: each is decided once. */
function decideWith(input: Input, fields: object | null): Decision | null {
  const key = serialize([input, fields]).toString('latin1');
  const known = decisions.get(key);
  if (known !== undefined) return known;
  const decision = decideNow(input, fields);
  decisions.set(key, decision);
  return decision;
}

function decideNow(input: Input, fields: object | null): Decision | null {
  try {
    return decide(parseSnapshot(withForecast(input, fields)));
  } catch {
    return null;
  }
}

/** Returns the JSON of a decision without the parts that a forecast adds. */
function withoutForecast(decision: Decision): unknown {
  const write = (key: string, value: unknown): unknown => (key === 'forecast' ? undefined : value);
  return JSON.parse(JSON.stringify(decisionToJson(decision), write));
}

function check(property: (input: Input) => void): void {
  fc.assert(fc.property(inputs, property), randomRuns(20261126, 2500));
}

const RAISE = { mode: 'Raise', budgetPercent: 100 };

describe('in any snapshot, a forecast', () => {
  it('gives at least the count without it, and raises some of them', () => {
    let raised = 0;
    check((input) => {
      const [withIt, without] = [decideWith(input, RAISE), decideWith(input, null)];
      if (withIt === null || without === null) return;
      expect(withIt.desiredReplicas).toBeGreaterThanOrEqual(without.desiredReplicas);
      if (withIt.desiredReplicas > without.desiredReplicas) raised += 1;
    });

    expect(raised).toBeGreaterThan(10);
  });

  it('changes nothing but its own result and state if it only observes', () => {
    check((input) => {
      const [observed, without] = [decideWith(input, {}), decideWith(input, null)];
      if (observed === null || without === null) return;
      expect(withoutForecast(observed)).toEqual(withoutForecast(without));
    });
  });

  it('does not exceed the bounds', () => {
    check((input) => {
      const [decision, without] = [decideWith(input, RAISE), decideWith(input, null)];
      if (decision === null || without === null) return;
      const { desiredReplicas, currentReplicas, maxReplicas, forecast } = decision;
      expect(forecast?.replicas ?? 0).toBeLessThanOrEqual(maxReplicas);
      expect(desiredReplicas).toBeLessThanOrEqual(
        Math.max(currentReplicas, maxReplicas, without.desiredReplicas),
      );
    });
  });

  it('does not exceed what policies, windows and other limits leave of any proposal', () => {
    let limited = 0;
    check((input) => {
      const [snapshot, ...rest] = input;
      const { samples } = snapshot as { readonly samples?: readonly object[] };
      if (samples?.length !== 1 || !('values' in (samples[0] ?? {}))) return;
      const busy: Input = [{ ...snapshot, samples: [{ at: time(-15), values: [1e12] }] } as Json, ...rest];
      const [decision, most] = [decideWith(input, RAISE), decideWith(busy, null)];
      if (decision === null || most === null) return;
      const without = decideWith(input, null)?.desiredReplicas ?? 0;
      expect(decision.desiredReplicas).toBeLessThanOrEqual(Math.max(most.desiredReplicas, without));
      if (decision.desiredReplicas < (decision.recommendedReplicas ?? 0)) limited += 1;
    });

    expect(limited).toBeGreaterThan(10);
  });

  it('does not fall if the load of the earlier days rises', () => {
    check(([snapshot, history, state]) => {
      const { seasons, highest, ...rest } = history as {
        readonly seasons: readonly { readonly load: number }[];
        readonly highest: number;
      };
      const higher = {
        ...rest,
        highest: highest * 2,
        seasons: seasons.map((season) => ({ ...season, load: Math.min(1e300, season.load * 1.5) })),
      };
      const [low, high] = [
        decideWith([snapshot, history, state], RAISE),
        decideWith([snapshot, higher, state], RAISE),
      ];
      expect(high?.desiredReplicas ?? 0).toBeGreaterThanOrEqual(low?.desiredReplicas ?? 0);
    });
  });

  it('is written and read without a difference', () => {
    check((input) => {
      const decision = decideWith(input, RAISE);
      if (decision === null) return;
      const written = JSON.parse(
        JSON.stringify(snapshotToJson(parseSnapshot(withForecast(input, RAISE)))),
      ) as unknown;
      expect(decisionToJson(decide(parseSnapshot(written)))).toEqual(decisionToJson(decision));
    });
  });
});

describe('a forecast of a random load', () => {
  const factor = fc.double({ min: 0.05, max: 3, noNaN: true });
  const days = fc.array(
    fc.record({
      level: fc.oneof({ weight: 9, arbitrary: factor }, { weight: 1, arbitrary: fc.constant(0) }),
      load: fc.double({ min: 1.3, max: 5, noNaN: true }),
    }),
    { minLength: 3, maxLength: 10 },
  );
  const unit = fc.oneof(
    { weight: 9, arbitrary: fc.double({ min: 0.1, max: 1e4, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(1e-6, 1, 10, 1e9) },
  );
  const cases = fc.record({
    days,
    unit,
    today: factor,
    highest: factor,
    milli: fc.integer({ min: 1, max: 20_000 }),
  });
  type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never;

  function decideCase({ days, unit, today, highest, milli }: Case): Decision {
    const target = { averageValue: `${milli}m` };
    const external = { metric: { name: 'rps' }, query: 'sum(rate(requests[1m]))', target };
    return decide(
      parseSnapshot({
        scaler: aDocument({
          scaleTargetRef: { name: 'web' },
          maxReplicas: 100,
          metrics: [{ external }],
          forecast: { mode: 'Raise', timeZone: 'UTC' },
        }),
        now: time(0),
        target: { specReplicas: 3 },
        pods: [],
        samples: [{ at: time(-15), values: [today * unit] }],
        loadHistory: {
          leadSeconds: 210,
          highest: 5 * highest * unit,
          seasons: days.map(({ level, load }, index) => ({
            at: time(210 - (index + 1) * 86_400),
            level: level * unit,
            load: load * (level || 1) * unit,
          })),
        },
        state: {
          recommendations: [],
          forecast: {
            at: time(-15),
            minutes: [1, 2, 3, 4, 5]
              .map((minute) => ({ at: time(-60 * minute), sum: today * unit, count: 1 }))
              .toReversed(),
            reactive: { replicas: 3, lastScaleUp: null, lastScaleDown: null, scaleEvents: [] },
            proposals: [],
            spent: [],
          },
        },
      }),
    );
  }

  const SENTENCE =
    /, such as (\S+) at \S+; (?:the load today is (\S+) %(?: \(at most (\S+) %\))? of the load on that day|the load on that day was 0 at this time): the load expected within \S+ is ([^\s,]+)(?:, limited to (\S+) \(1\.2 times the highest load of ([^\s)]+)\))?, which needs (\d+) pods? at the target \(([^\s)]+)(?: each)?\)/;

  /** Returns whether `value` is the printed result, in its digits. */
  function isPrinted(value: number, printed: string): boolean {
    const significant = printed.replace(/e.*$/, '').replace(/^0\.0*/, '');
    const shown = significant.includes('.') ? significant : significant.replace(/0+$/, '');
    const digits = Math.max(3, (shown.match(/\d/g) ?? []).length);
    return Number(value.toPrecision(digits)) === Number(printed);
  }

  it('has a reason that adds up from its printed numbers: percent, load, limit and pods', () => {
    const seen = { limitedScale: 0, withoutLevel: 0, limitedLoad: 0 };
    const property = fc.property(cases, (one) => {
      const { forecast } = decideCase(one);
      const why = forecast?.why ?? '';
      const found = SENTENCE.exec(why);
      if (found === null) throw new Error(`cannot be read: ${why}`);
      const [, needed, percent, most, product = '', limited, top, pods, ofPod] = found;
      const ratio = percent === undefined ? 100 : Number(most ?? percent);
      if (!isPrinted((ratio * Number(needed)) / 100, product)) throw new Error(`percent and load: ${why}`);
      if (limited !== undefined && !isPrinted(1.2 * Number(top), limited)) throw new Error(`limit: ${why}`);
      const exact = Number((Number(limited ?? product) / Number(ofPod)).toPrecision(12));
      if (Math.min(MAX_REPLICAS, Math.ceil(exact)) !== Number(pods)) throw new Error(`pods: ${why}`);
      if (most !== undefined) seen.limitedScale += 1;
      if (percent === undefined) seen.withoutLevel += 1;
      if (limited !== undefined) seen.limitedLoad += 1;
    });

    fc.assert(property, randomRuns(20261129, 2000));
    for (const count of [seen.limitedScale, seen.withoutLevel, seen.limitedLoad])
      expect(count).toBeGreaterThan(20);
  });

  it('has at least as many pods if the load of today is higher, as has the decision', () => {
    let raised = 0;
    const property = fc.property(cases, fc.double({ min: 1, max: 3, noNaN: true }), (one, factor) => {
      const [low, high] = [decideCase(one), decideCase({ ...one, today: one.today * factor })];
      expect(high.forecast?.replicas ?? 0).toBeGreaterThanOrEqual(low.forecast?.replicas ?? 0);
      expect(high.desiredReplicas).toBeGreaterThanOrEqual(low.desiredReplicas);
      if (low.reason.startsWith('forecast')) raised += 1;
    });

    fc.assert(property, randomRuns(20261130, 1000));
    expect(raised).toBeGreaterThan(20);
  });
});
