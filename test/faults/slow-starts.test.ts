import { describe, expect, it } from '@jest/globals';
import { readAgeQuery } from './age-queries.js';
import { runSeed, type SeedResult } from './run-seed.js';
import { SOURCE_PRODUCT } from './source-product.js';
import type { Product } from './product.js';
import type { Fault, SourceMode } from './simulation/faults.js';

const MINUTE_MS = 60_000;

const run = (faults: readonly Fault[], product: Product = SOURCE_PRODUCT): Promise<SeedResult> =>
  runSeed({ seed: 3, hours: 1.1, product, faults, features: ['slow-starts'] });

/** From this minute on. */
const span = (minute: number, minutes: number) => ({
  startMs: minute * MINUTE_MS,
  endMs: (minute + minutes) * MINUTE_MS,
});

/** At 30 minutes, half of the pods of web and api are removed, so that others start. */
const HALVED = (['web', 'api'] as const).map((target): Fault => {
  const what = { mode: 'foreign-write', factor: 0.5 } as const;
  return { ...span(30, 0.1), kind: 'cluster', replica: 0, target, what };
});
const onBoth = (what: Extract<Fault, { kind: 'cluster' }>['what'], minutes: number): readonly Fault[] =>
  ['web', 'api'].map((target) => ({ ...span(29, minutes), kind: 'cluster', replica: 0, target, what }));
const source = (what: SourceMode, minute: number, minutes: number): Fault => ({
  ...span(minute, minutes),
  kind: 'source',
  source: 'default',
  what,
});

const LOST_WHILE_STARTING = [
  ...HALVED,
  ...onBoth({ mode: 'slow-start', seconds: 120 }, 15),
  source({ mode: 'missing' }, 31, 10),
];
const NEVER_READY = [...HALVED, ...onBoth({ mode: 'never-ready' }, 15)];
const CEILING_AWAY = [
  ...HALVED,
  { ...source({ mode: 'query-missing', text: 'pods_allowed' }, 29, 30), source: 'queues' },
];
const READING_AWAY = [
  ...HALVED,
  { ...source({ mode: 'query-missing', text: 'promscaler_part' }, 20, 40), source: 'queues' },
  { ...span(40, 0.1), kind: 'cluster', replica: 0, target: 'worker', what: { mode: 'crash', point: null } },
] as const;
const CAPACITY_AWAY = [...HALVED, source({ mode: 'query-missing', text: 'requests_per_pod' }, 29, 15)];

describe('a simulation of slow starts', () => {
  it.each([
    ['without faults', []],
    ['whose metrics are lost for 10 minutes while pods start for 120 s', LOST_WHILE_STARTING],
    ['whose pods do not start for 15 minutes', NEVER_READY],
    ['whose query for the capacity of a pod finds nothing for 15 minutes', CAPACITY_AWAY],
    ['whose query for the ceiling finds nothing for 30 minutes', CEILING_AWAY],
    ['whose process restarts while what pods carry cannot be measured', READING_AWAY],
  ])('%s violates no invariant', async (_, faults) => {
    const { violations, writes } = await run(faults);

    expect(violations).toEqual([]);
    expect(writes).toBeGreaterThan(0);
  });

  it('takes a step for usage at its limit: 8 replicas for 4 ready pods, and violates no invariant', async () => {
    const steps: string[] = [];
    const product: Product = {
      ...SOURCE_PRODUCT,
      createService: (options) =>
        SOURCE_PRODUCT.createService({
          ...options,
          onCycle: (output) => {
            const { snapshot, decision } = output.record;
            const step = decision?.state.saturation?.step ?? null;
            if (step !== null && step.at === snapshot?.now) steps.push(decision?.reason ?? '');
            options.onCycle?.(output);
          },
        }),
    };

    const { violations } = await runSeed({
      seed: 11,
      hours: 1,
      product,
      faults: [],
      features: ['slow-starts'],
    });

    expect(violations).toEqual([]);
    expect(steps).toEqual([expect.stringMatching(/, 2 x 4 ready pods = 8: 6 -> 8$/)]);
  });

  it('detects a service that reads a missing capacity as 600 a second, by I2', async () => {
    const buggy: Product = {
      ...SOURCE_PRODUCT,
      createService: (options) => {
        const createClient: typeof options.createClient = (config) => {
          const client = options.createClient?.(config);
          if (client === undefined) throw new Error('the simulation has clients');
          const query: typeof client.query = async (text, asked) => {
            const answer = await client.query(text, asked);
            if (
              answer.class !== 'missing' ||
              !text.includes('requests_per_pod') ||
              readAgeQuery(text) !== null
            )
              return answer;
            return { class: 'value', series: [{ labels: {}, value: 600 }], evaluatedAt: options.clock.now() };
          };
          return { ...client, query };
        };
        return SOURCE_PRODUCT.createService({ ...options, createClient });
      },
    };

    const { violations } = await run(CAPACITY_AWAY, buggy);

    expect(violations.map(({ invariant }) => invariant)).toContain('I2');
  });
});
