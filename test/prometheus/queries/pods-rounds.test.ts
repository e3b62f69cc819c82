import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { MetricSpec, Scaler } from '../../../src/scaler/spec.js';
import { cpuMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { values } from '../fakes.js';
import { due, setUp } from '../round-fixture.js';

describe('queries of a round that evaluate each pod on its own', () => {
  const query = 'sum by (pod) (rate(requests_total{namespace="$namespace", pod=~"$pods"}[1m]))';
  const written = (pods: string, namespace = 'shop'): string =>
    `sum by (pod) (rate(requests_total{namespace="${namespace}", pod=~"${pods}"}[1m]))`;
  const pods = {
    type: 'Pods',
    name: 'rps',
    identity: 'rps',
    source: 'default',
    query,
    selector: [],
  } as const;
  const metric: MetricSpec = { ...pods, target: { type: 'AverageValue', milli: 1000n } };
  const END = '-[a-z0-9]+-[a-z0-9]{5}';
  const podsOf = (text: string): Answer => values([{ labels: { pod: text }, value: 1 }]);
  const ranked = (scaler: Scaler, ranking = query): Scaler => {
    const podDeletionCost = { source: 'default', query: ranking } as Scaler['spec']['podDeletionCost'];
    return { ...scaler, spec: { ...scaler.spec, podDeletionCost } };
  };

  it('are sent once for the workloads of a namespace', async () => {
    const { start, asked } = setUp(podsOf);
    const scalers = [due([metric], 'shop', 'web'), due([metric], 'shop', 'api'), due([metric], 'pay', 'web')];

    const round = start(...scalers);
    const [web] = await round.of('shop/web');
    const [api] = await round.of('shop/api');

    expect(asked.toSorted()).toEqual([written(`web${END}`, 'pay'), written(`(?:api|web)${END}`)]);
    expect([web, api]).toEqual([podsOf(written(`(?:api|web)${END}`)), web]);
    await expect(round.of('pay/web')).resolves.toEqual([podsOf(written(`web${END}`, 'pay'))]);
  });

  it('are sent apart if they aggregate pods', async () => {
    const { start, asked } = setUp(podsOf);
    const summed = { ...metric, query: 'sum(x{pod=~"$pods"})' };

    await start(due([summed]), due([summed], 'shop', 'api')).of('shop/web');

    expect(asked.toSorted()).toEqual([`sum(x{pod=~"api${END}"})`, `sum(x{pod=~"web${END}"})`]);
  });

  it('rank pods, too, and are not sent twice if a metric of the workload is the same', async () => {
    const { start, asked } = setUp(podsOf);
    const scalers = [
      ranked(due([metric], 'shop', 'web')),
      ranked(due([metric], 'shop', 'api')),
      due([metric], 'shop', 'db'),
    ];

    const round = start(...scalers);
    await round.of('shop/web');

    expect(asked).toEqual([written(`(?:api|db|web)${END}`)]);
    await expect(round.ranking('shop/api')).resolves.toEqual(podsOf(written(`(?:api|db|web)${END}`)));
  });

  it('rank the pods of workloads whose metric is another one', async () => {
    const { start, asked } = setUp(podsOf);
    const scalers = [
      due([metric], 'shop', 'web'),
      ranked(due([cpuMetric], 'shop', 'api')),
      ranked(due([cpuMetric], 'shop', 'db')),
    ];

    const round = start(...scalers);
    await round.of('shop/web');

    await expect(round.ranking('shop/api')).resolves.toEqual(podsOf(written(`(?:api|db)${END}`)));
    expect(asked.filter((each) => each.startsWith('sum by (pod)'))).toEqual([
      written(`web${END}`),
      written(`(?:api|db)${END}`),
    ]);
  });

  it('fail for one workload alone if its data is the cause, with the whole time limit for each query', async () => {
    const clock = new ManualClock();
    const rejected: Answer = { class: 'failed', reason: 'execution', message: 'many-to-many matching' };
    const { start, asked, deadlinesMs } = setUp(
      (text) => {
        clock.advance(2000);
        return text.includes('db') ? rejected : podsOf(text);
      },
      {},
      clock,
    );
    const names = ['web', 'api', 'db', 'cache'];

    const round = start(...names.map((name) => due([metric], 'shop', name)));
    const answers = await Promise.all(names.map((name) => round.of(`shop/${name}`)));

    expect(answers.map(([answer]) => answer?.class)).toEqual(['value', 'value', 'failed', 'value']);
    expect(asked).toHaveLength(5);
    // The last one is sent 6 or 8 s after the start of the round, of which 12 s are for queries.
    expect(deadlinesMs).toEqual([7500, 7500, 7500, 6000, 4000]);
  });

  it('that the server refuses are not sent again for four rounds', async () => {
    const refused: Answer = { class: 'failed', reason: 'bad_query', message: 'parse error' };
    const clock = new ManualClock();
    const { start, asked } = setUp(() => refused, {}, clock);
    const counts: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      await start(due([metric]), due([metric], 'shop', 'api')).of('shop/web');
      counts.push(asked.length);
      clock.advance(15_000);
    }

    expect(counts).toEqual([2, 2, 2, 2, 2, 4]);
  });
});
