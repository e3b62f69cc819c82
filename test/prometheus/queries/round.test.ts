import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { INTERNAL_ERROR } from '../../../src/units/failure.js';

import { createCollector, type Readings } from '../../../src/prometheus/queries/round.js';
import { createCapacityWatch } from '../../../src/prometheus/queries/capacity-watch.js';
import { type OpenSource, openSource } from '../../../src/prometheus/queries/open-source.js';
import { createReadyQueue } from '../../../src/units/clock.js';
import { createRoundPlanner } from '../../../src/prometheus/queries/plan-round.js';
import { ownKey } from '../../../src/prometheus/queries/compile-queries.js';
import { type SourceAge, type SourceAges, UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { aSource, externalMetric, T0 } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { due } from '../round-fixture.js';

const SOURCE = aSource();
const FAILED: Answer = { class: 'failed', reason: 'timeout', message: 'no answer' };
const VALUE = { class: 'value', series: [{ labels: {}, value: 1 }], evaluatedAt: T0 } as const;
const scalerOf = (name: string, ...queries: readonly string[]): Scaler =>
  due(
    queries.map((query) => externalMetric({ query, identity: query })),
    'shop',
    name,
  );

/** A round of these scalers: what is ready, and the servers whose age was read. */
async function start(
  scalers: readonly Scaler[],
  readAge: () => Promise<SourceAge> = () => Promise.resolve(UNKNOWN_AGE),
) {
  const clock = new ManualClock();
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const planner = createRoundPlanner(clock, onFault);
  const read: string[] = [];
  const sourceWith = (name: string): OpenSource => {
    const source = openSource(aSource({ name }), { clock, onQuery: () => undefined });
    const ages: SourceAges = {
      read: (_signal, urlIndex) => {
        read.push(urlIndex === undefined ? name : `${name} ${urlIndex}`);
        return readAge();
      },
    };
    return { ...source, ages };
  };
  const ready: (readonly [Scaler, Readings])[] = [];
  const collector = createCollector(await planner.planFor(scalers, new Map([['default', SOURCE]])), {
    sources: new Map([['default', sourceWith('default')]]),
    clock,
    signal: new AbortController().signal,
    number: 1,
    startMs: 500,
    capacities: createCapacityWatch({ clock, onFault }),
    ready: createReadyQueue(clock),
    onReady: (scaler, readings) => ready.push([scaler, readings]),
    onFault,
  });
  const take = (query: string, answer: Answer = VALUE): void =>
    collector.store(ownKey(SOURCE, query), answer);
  const names = (): readonly string[] => ready.map(([{ name }]) => name);
  return { collector, take, ready, names, read, faults };
}

describe('the answers of a round', () => {
  it('make a scaler ready when the last of its answers has arrived, with the time at which the round began', async () => {
    const web = scalerOf('web', 'a', 'b');
    const { take, ready } = await start([web]);
    take('b', FAILED);
    await settle();
    expect(ready).toEqual([]);

    take('a');
    await settle();

    const ages = new Map([['default', UNKNOWN_AGE]]);
    expect(ready).toEqual([[web, { answers: [VALUE, FAILED], ages, sinceMs: 500 }]]);
  });

  it('make all scalers that share a query ready, others not, and none twice', async () => {
    const { take, names } = await start([
      scalerOf('web', 'a'),
      scalerOf('api', 'a', 'a'),
      scalerOf('db', 'b'),
    ]);
    take('a');
    take('a', FAILED);
    await settle();

    expect(names()).toEqual(['web', 'api']);
  });

  it('are not waited for by a scaler without queries', async () => {
    const { names, read } = await start([scalerOf('web')]);
    await settle();

    expect([names(), read]).toEqual([['web'], []]);
  });

  it('come with the age of their source, read once for all that are ready at the same time, after the answers', async () => {
    const { take, names, read } = await start(['web', 'api', 'db'].map((name) => scalerOf(name, 'a', name)));
    take('a');
    await settle();
    expect(read).toEqual([]);
    take('web');
    take('api');
    await settle();
    expect([names(), read]).toEqual([['web', 'api'], ['default']]);

    take('db');
    await settle();
    expect([names(), read]).toEqual([
      ['web', 'api', 'db'],
      ['default', 'default'],
    ]);
  });

  it('come with the age of each url that has answered, and of none that has not', async () => {
    const { take, ready, read } = await start([scalerOf('web', 'a', 'b', 'c')]);
    take('a', { ...VALUE, urlIndex: 1 });
    take('b', FAILED);
    take('c', { class: 'missing', message: 'no series', urlIndex: 0 });
    await settle();

    expect(read).toEqual(['default 1', 'default 0']);
    expect(ready.map(([, { ages }]) => [...ages.keys()])).toEqual([['1 default', '0 default']]);
  });

  it('have no value if the age of their source cannot be read, instead of waiting for ever', async () => {
    const error = new TypeError('a fault of our own');
    const { take, ready, faults } = await start([scalerOf('web', 'a')], () => Promise.reject(error));
    take('a');
    await settle();

    expect(ready.map(([, { answers }]) => answers)).toEqual([[INTERNAL_ERROR]]);
    expect(faults).toEqual([error]);
  });

  it('have no value for one scaler if its answer is defective, and the others are ready', async () => {
    const guarded = due([externalMetric({ query: 'a', guard: 'up' })], 'shop', 'web');
    const { take, ready, faults } = await start([guarded, scalerOf('api', 'a')]);
    take('a');
    take('up', { class: 'value' } as unknown as Answer);
    await settle();

    expect(ready.map(([{ name }, { answers }]) => [name, answers])).toEqual([
      ['api', [VALUE]],
      ['web', [INTERNAL_ERROR]],
    ]);
    expect(faults).toEqual([expect.any(TypeError)]);
  });

  it('can be waited for by key', async () => {
    const { collector, take } = await start([scalerOf('web', 'a')]);
    const early = collector.wait(ownKey(SOURCE, 'a'));
    take('a');

    await expect(early).resolves.toBe(VALUE);
    await expect(collector.wait(ownKey(SOURCE, 'a'))).resolves.toBe(VALUE);
    expect(collector.get(ownKey(SOURCE, 'b'))).toBeUndefined();
  });
});

describe('createReadyQueue', () => {
  /** Numbers that were called, and the turns of the event loop that are planned. */
  function startQueue(atOnce: number) {
    const turns: (() => void)[] = [];
    const { now, random, monotonicMs } = new ManualClock();
    const after = (_ms: number, callback: () => void): (() => void) => {
      turns.push(callback);
      return () => undefined;
    };
    const queue = createReadyQueue({ now, random, monotonicMs, after }, atOnce);
    const called: number[] = [];
    let added = 0;
    const add = (count: number): void => {
      for (let index = 0; index < count; index += 1) {
        const number = (added += 1);
        queue.add(() => void called.push(number));
      }
    };
    const yieldIfDue = (): void => turns.splice(0).forEach((turn) => turn());
    return { add, called, turns, yieldIfDue };
  }

  it('calls 3 in a turn, in order, and also those that are added meanwhile', () => {
    const { add, called, turns, yieldIfDue } = startQueue(3);
    add(2);
    add(6);
    const lengths = [called.length];
    yieldIfDue();
    add(2);
    lengths.push(called.length);
    while (turns.length > 0) {
      yieldIfDue();
      lengths.push(called.length);
    }

    expect(lengths).toEqual([3, 6, 9, 10, 10]);
    expect(called).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('calls 3 at once again in the turn after the last ones', () => {
    const { add, called, turns, yieldIfDue } = startQueue(3);
    add(3);
    yieldIfDue();
    expect(turns).toEqual([]);
    add(4);

    expect([called.length, turns.length]).toEqual([6, 1]);
  });
});

describe('the query of maxReplicasFrom', () => {
  const limited = (name: string, source = 'default'): Scaler => {
    const scaler = scalerOf(name, 'a');
    return { ...scaler, spec: { ...scaler.spec, maxReplicasFrom: { query: 'free{x="$name"}', source } } };
  };

  it('is one of the answers that a scaler waits for, and is not one of its metrics', async () => {
    const { take, ready } = await start([limited('web'), scalerOf('api', 'a')]);
    take('a');
    await settle();
    expect(ready.map(([{ name }]) => name)).toEqual(['api']);

    take('free{x="web"}', FAILED);
    await settle();

    expect(ready.map(([{ name }, { answers, ceiling }]) => [name, answers, ceiling])).toEqual([
      ['api', [VALUE], undefined],
      ['web', [VALUE], FAILED],
    ]);
  });

  it('fails without its data source, and the metrics keep their answers', async () => {
    const { take, ready } = await start([limited('web', 'gpus')]);
    take('a');
    await settle();

    expect(ready[0]?.[1]).toMatchObject({
      answers: [VALUE],
      ceiling: { class: 'failed', message: 'the service config has no data source "gpus"' },
    });
  });
});
