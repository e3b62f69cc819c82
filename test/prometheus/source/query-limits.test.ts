import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../src/decision/decide.js';
import { EMPTY_STATE } from '../../../src/decision/snapshot/snapshot.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { toSamples } from '../../../src/prometheus/samples.js';
import { aPod, aSource, cpuMetric, externalMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { fakeEngine } from '../fake-engine.js';
import { startRound, values } from '../fakes.js';
import { due } from '../round-fixture.js';

const ONE = values([{ labels: { namespace: 'greedy', pod: 'p', container: 'c' }, value: 1 }]);

/** Rounds of a namespace with `count` queries of its own of `seconds` each, next to one with a single query. */
function setUp(limits: Partial<SourceConfig>, { count = 5, seconds = 1, shared = [] as string[] } = {}) {
  const clock = new ManualClock();
  const engine = fakeEngine({
    clock,
    slots: 1,
    cpus: 1,
    treat: () => ({ cpuSeconds: seconds, answer: ONE }),
  });
  const over: string[] = [];
  const source = createMetricSource({
    sources: new Map([['main', aSource({ name: 'main', ifVictoriaMetrics: null, ...limits })]]),
    clock,
    onQuery: () => undefined,
    onOverLimit: (name, namespace) => over.push(`${name}/${namespace}`),
    createClient: engine.createClient,
  });
  const metrics = (queries: readonly string[]) =>
    queries.map((query) => externalMetric({ query, identity: query, source: 'main' }));
  const own = Array.from({ length: count }, (_, index) => `own${index}`);
  const greedy = due([{ ...cpuMetric, source: 'main' }, ...metrics([...own, ...shared])], 'greedy', 'a');
  const modest = due(metrics(['modest', ...shared]), 'modest', 'b');
  const round = async () => {
    over.length = 0;
    engine.sent.length = 0;
    const answers = startRound(source, [greedy, modest]);
    const both = Promise.all([answers.of(greedy), answers.of(modest)]);
    await clock.advanceAndSettle(15_000);
    const [ofGreedy, ofModest] = await both;
    return {
      ofGreedy,
      ofModest,
      over: [...over],
      sent: engine.sent.length,
      scaler: greedy,
      now: clock.now(),
    };
  };
  return round;
}

const failed = (answers: readonly Answer[]): readonly string[] =>
  answers.flatMap((answer) => (answer.class === 'failed' ? [`${answer.reason}: ${answer.message}`] : []));

describe('maxQueriesPerNamespace', () => {
  it('of 3 sends 3 of 5 queries of a namespace in each round, besides the merged cpu query, and all of others', async () => {
    const round = setUp({ maxQueriesPerNamespace: 3 });

    for (let index = 0; index < 3; index += 1) {
      const { ofGreedy, ofModest, over, sent } = await round();
      const why =
        'over_limit: the query was not sent, because the queries of namespace greedy exceed 3 in a round (prometheus.main.maxQueriesPerNamespace)';
      expect(failed(ofGreedy)).toEqual([why, why]);
      expect(failed(ofModest)).toEqual([]);
      expect(over).toEqual(['main/greedy', 'main/greedy']);
      expect(sent).toBe(5);
    }
  });

  it('is named in the condition ScalingActive of a scaler whose queries are not sent, which is not scaled down', async () => {
    const { ofGreedy, scaler: asked, now } = await setUp({ maxQueriesPerNamespace: 3 })();
    // Each value of 1 asks for a half.
    const target = { type: 'Value', milli: 2000n } as const;
    const metrics = asked.spec.metrics.flatMap((one) => (one.type === 'External' ? { ...one, target } : []));
    const scaler = { ...asked, spec: { ...asked.spec, metrics } };
    const sources = new Map([['main', aSource({ name: 'main' })]]);
    const pods = [aPod('p')];
    const samples = toSamples(scaler, ofGreedy.slice(1), { pods, now, sources });

    const { conditions, desiredReplicas } = decide({
      scaler,
      now,
      target: { specReplicas: 5, statusReplicas: 5 },
      pods,
      samples,
      state: EMPTY_STATE,
    });

    expect(desiredReplicas).toBe(5);
    expect(conditions.find(({ type }) => type === 'ScalingActive')).toEqual({
      type: 'ScalingActive',
      status: 'False',
      reason: 'FailedGetExternalMetric',
      message:
        'the replica count could not be calculated from External metric own1: the query was not sent, because the queries of namespace greedy exceed 3 in a round (prometheus.main.maxQueriesPerNamespace)',
    });
  });

  it('of 5 sends 5 queries', async () => {
    const { ofGreedy, over } = await setUp({ maxQueriesPerNamespace: 5 })();

    expect([failed(ofGreedy), over]).toEqual([[], []]);
  });

  it('does not take a query from a namespace that shares it with one that exceeds the limit', async () => {
    const { ofModest } = await setUp({ maxQueriesPerNamespace: 3 }, { shared: ['both'] })();

    expect(failed(ofModest)).toEqual([]);
  });
});

describe('maxQuerySecondsPerNamespace', () => {
  it('of 2 sends queries until 2 s are used; what is more is taken from the next rounds', async () => {
    const round = setUp({ maxQuerySecondsPerNamespace: 2, maxConcurrentQueries: 1 }, { seconds: 1.5 });
    const counts: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const { ofGreedy, ofModest, over } = await round();
      expect(failed(ofModest)).toEqual([]);
      expect(failed(ofGreedy)).toHaveLength(over.length);
      counts.push(5 - over.length);
    }

    expect(counts).toEqual([2, 1, 1, 2, 1, 1]);
  });

  it('is named in the answer', async () => {
    const { ofGreedy } = await setUp({ maxQuerySecondsPerNamespace: 1, maxConcurrentQueries: 1 })();

    expect(failed(ofGreedy)[0]).toBe(
      'over_limit: the query was not sent, because the queries of namespace greedy have taken more than 1 s in a round (prometheus.main.maxQuerySecondsPerNamespace)',
    );
  });
});

it('without limits all queries are sent', async () => {
  const { ofGreedy, over } = await setUp({}, { count: 50, seconds: 0.01 })();

  expect([failed(ofGreedy), over]).toEqual([[], []]);
});
