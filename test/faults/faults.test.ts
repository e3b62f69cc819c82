import { describe, expect, it } from '@jest/globals';
import type { PrometheusClient } from '../../src/prometheus/client/client.js';
import { instantFromMs } from '../../src/units/time.js';
import { readAgeQuery } from './age-queries.js';
import { hashOf, runSeed } from './run-seed.js';
import { SOURCE_PRODUCT } from './source-product.js';
import type { Product } from './product.js';
import { HPAS } from './simulation/cluster.js';
import type { Fault } from './simulation/faults.js';
import { Simulation } from './simulation/simulation.js';

const product = SOURCE_PRODUCT;
const MINUTE_MS = 60_000;
/** A fault begins 12 minutes after the start; 36 minutes follow it, in which everything must become correct again. */
const START_MS = 12 * MINUTE_MS;
const HOURS = 0.8;

function faultOf(seconds: number, fault: { readonly [member: string]: unknown }): readonly Fault[] {
  return [{ startMs: START_MS, endMs: START_MS + seconds * 1000, ...fault } as Fault];
}

const source = (mode: string, seconds: number) =>
  faultOf(seconds, { kind: 'source', source: 'default', what: { mode } });
const clusterFault = (what: object, seconds: number) =>
  faultOf(seconds, { kind: 'cluster', replica: 0, target: 'web', what });
const lateSamples = (what: object) =>
  ['default', 'queues'].flatMap((name) => faultOf(900, { kind: 'source', source: name, what }));
const patch = (mode: string, seconds: number) =>
  faultOf(seconds, { kind: 'api', group: 'patch', replica: null, probability: 1, what: { mode } });

describe('a simulation', () => {
  it.each([1, 6])('of seed %d violates no invariant in 2 simulated hours', async (seed) => {
    const { violations } = await runSeed({ seed, hours: 2, product });

    expect(violations).toEqual([]);
  });

  it.each([
    ['a Prometheus that lost its history', source('wiped', 90)],
    ['an engine that is killed, emptied and back at once', source('emptied', 1)],
    ['a Prometheus that is stopped for 45 s', source('down', 45)],
    ['a Prometheus that is empty for ten minutes', source('missing', 600)],
    ['NaN for ten minutes', source('nan', 600)],
    ['half an answer for ten minutes', source('partial', 600)],
    ['PATCHes that are done while their answers are lost', patch('applied-lost', 900)],
    ['PATCHes that end in 504, undone', patch('unapplied-504', 900)],
    [
      'an API server that restarts, and forbids everything for 1 s',
      clusterFault({ mode: 'api-restart', forbiddenMs: 1000 }, 60),
    ],
    [
      'a directory of documents that is empty for ten minutes',
      clusterFault({ mode: 'documents-emptied' }, 600),
    ],
    [
      'PATCHes that the API server has no room for',
      faultOf(900, {
        kind: 'api',
        group: 'patch',
        replica: null,
        probability: 0.7,
        what: { mode: 'rate-limited' },
      }),
    ],
  ])('with %s violates no invariant', async (_, faults) => {
    const { violations, writes } = await runSeed({ seed: 3, hours: HOURS, product, faults });

    expect(violations).toEqual([]);
    expect(writes).toBeGreaterThan(0);
  });

  it.each([
    ['20 s late for 15 minutes', { mode: 'lagging', percent: 100, seconds: 20 }],
    ['late by half of the range for 15 minutes', { mode: 'lagging', percent: 100, seconds: 60 }],
    ['late by 5 s less than the range for 15 minutes', { mode: 'lagging', percent: 100, seconds: 115 }],
    ['of half of the targets late by half of the range', { mode: 'lagging', percent: 50, seconds: 60 }],
    ['missing because all scrapes fail', { mode: 'unscraped', percent: 100 }],
    ['missing because half of the scrapes fail', { mode: 'unscraped', percent: 50 }],
  ])('with samples %s violates no invariant', async (_, what) => {
    const { violations } = await runSeed({ seed: 3, hours: HOURS, product, faults: lateSamples(what) });

    expect(violations).toEqual([]);
  });

  it.each(['slow', 'forbidden', 'too-large', 'many'])(
    'with a hostile namespace whose queries are %s violates no invariant',
    async (way) => {
      const faults = clusterFault({ mode: 'hostile-tenant', way }, 600);
      const { violations, writes } = await runSeed({ seed: 3, hours: HOURS, product, faults });

      expect(violations).toEqual([]);
      expect(writes).toBeGreaterThan(0);
    },
  );

  it('with an API server that restarts 5 minutes after the documents of a hostile namespace are gone violates no invariant', async () => {
    const [tenant] = clusterFault({ mode: 'hostile-tenant', way: 'many' }, 300);
    const [restart] = clusterFault({ mode: 'api-restart', forbiddenMs: 1000 }, 60);
    if (tenant === undefined || restart === undefined) throw new Error('there are two faults');
    const faults = [
      { ...tenant, startMs: START_MS - 10 * MINUTE_MS, endMs: START_MS - 5 * MINUTE_MS },
      restart,
    ];
    const { violations } = await runSeed({ seed: 3, hours: HOURS, product, faults });

    expect(violations).toEqual([]);
  });

  it('of a seed whose servers report no start time, with a store that is gone for ten minutes, violates no invariant', async () => {
    const store = { kind: 'source', what: { mode: 'store-lost', percent: 50 } };
    const faults = ['default', 'queues'].flatMap((name) => faultOf(600, { ...store, source: name }));
    const { violations, writes } = await runSeed({ seed: 5, hours: HOURS, product, faults });

    expect(violations).toEqual([]);
    expect(writes).toBeGreaterThan(0);
  });

  it('is identical for the same seed, and different for another seed', async () => {
    const run = async (seed: number) => hashOf((await runSeed({ seed, hours: 0.5, product })).records);

    const first = await run(4);

    expect(await run(4)).toBe(first);
    expect(await run(5)).not.toBe(first);
  });
});

describe('an HPA of two overlapping faults on one target', () => {
  it.each([
    [119, 1],
    [121, 0],
  ])('exists after %i s: %i, for faults of 60 s and 120 s', async (seconds, count) => {
    const hpa = { kind: 'cluster', replica: 0, target: 'web', what: { mode: 'hpa-appears' } } as const;
    const faults: readonly Fault[] = [
      { ...hpa, startMs: 0, endMs: 60_000 },
      { ...hpa, startMs: 0, endMs: 120_000 },
    ];
    const durationMs = seconds * 1000;
    const simulation = new Simulation({ seed: 3, durationMs, product, replicas: 1, faults });

    await simulation.run(durationMs);

    expect(simulation.cluster.store.count(HPAS)).toBe(count);
  });
});

describe('the checker', () => {
  it.each([
    ['late by half of the range', { mode: 'lagging', percent: 100, seconds: 60 }],
    ['missing because all scrapes fail', { mode: 'unscraped', percent: 100 }],
  ])('detects a service that does not check the age of samples, by I2, if they are %s', async (_, what) => {
    const unchecked: Product = {
      ...product,
      readServiceConfig: (text, file) =>
        product.readServiceConfig(
          text.replaceAll('scrapeInterval', 'maxSampleAgeSeconds: 0, scrapeInterval'),
          file,
        ),
    };
    const { violations } = await runSeed({
      seed: 2,
      hours: HOURS,
      product: unchecked,
      faults: lateSamples(what),
    });

    expect(violations.map(({ invariant }) => invariant)).toContain('I2');
  });

  it('detects a service whose queries fail while those of a hostile namespace run, by I14', async () => {
    let running = 0;
    const unfair = withClient((query) => async (text, asked) => {
      const isHostile = text.startsWith('tenant_load');
      if (!isHostile && running > 0) return { class: 'failed', reason: 'timeout', message: 'no slot' };
      running += isHostile ? 1 : 0;
      const answer = await query(text, asked);
      running -= isHostile ? 1 : 0;
      return answer;
    });
    const faults = clusterFault({ mode: 'hostile-tenant', way: 'slow' }, 600);
    const { violations } = await runSeed({ seed: 3, hours: HOURS, product: unfair, faults });

    expect(violations.map(({ invariant }) => invariant)).toContain('I14');
  });

  type Query = PrometheusClient['query'];

  /** The service with an altered data source. */
  function withClient(change: (query: Query) => Query): Product {
    return {
      ...product,
      createService: (options) => {
        const createClient: typeof options.createClient = (config) => {
          const client = options.createClient?.(config);
          if (client === undefined) throw new Error('the simulation has clients');
          return { ...client, query: change(client.query) };
        };
        return product.createService({ ...options, createClient });
      },
    };
  }

  it('detects a service that reads no series as zero, by I2', async () => {
    const buggy = withClient((query) => async (text, asked) => {
      const answer = await query(text, asked);
      return answer.class === 'missing' && readAgeQuery(text) === null
        ? {
            class: 'value',
            series: [{ labels: {}, value: 0 }],
            evaluatedAt: instantFromMs(Date.UTC(2026, 0, 5, 0, 13)),
          }
        : answer;
    });
    const { violations } = await runSeed({
      seed: 3,
      hours: HOURS,
      product: buggy,
      faults: source('missing', 900),
    });

    expect(violations.map(({ invariant }) => invariant)).toContain('I2');
  });

  it('detects a service that sends no preconditions, by I9', async () => {
    const buggy: Product = {
      ...product,
      createService: (options) =>
        product.createService({
          ...options,
          openTransport: (onRequest, onServerNames) => {
            const transport = options.openTransport(onRequest, onServerNames);
            const { request } = transport;
            return {
              ...transport,
              request: (one) =>
                request(
                  one.verb === 'patch' && one.resource.endsWith('/scale')
                    ? { ...one, body: { spec: one.body?.['spec'] } }
                    : one,
                ),
            };
          },
        }),
    };

    const { violations } = await runSeed({ seed: 3, hours: HOURS, product: buggy, faults: [] });

    expect(violations.map(({ invariant }) => invariant)).toContain('I9');
  });
});
