import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import { aClient, aSource, cpuMetric } from '../support/builders.js';
import { answersByKey, realClock, startRound } from './fakes.js';
import { INTERNAL_ERROR } from '../../src/units/failure.js';
import { due } from './round-fixture.js';

/** An answer with which the reader of answers cannot work: a defect of our own. */
const DEFECTIVE = { class: 'value' } as unknown as Answer;
const NONE: Answer = { class: 'missing', message: 'no series' };
const CPU = 'sum by (namespace, pod, container) (rate(cpu{namespace=~"$namespaces"}[$window]))';

async function round(respond: (query: string) => Answer) {
  const faults: unknown[] = [];
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ resourceQueries: { cpu: CPU } })]]),
    clock: realClock,
    onQuery: () => undefined,
    onFault: (error) => faults.push(error),
    seeksDuplicates: true,
    createClient: (config) =>
      aClient(config, {
        query: (query) => Promise.resolve(respond(query)),
        startTime: () => Promise.resolve(null),
      }),
  });
  const scalers = [due([cpuMetric], 'shop'), due([cpuMetric], 'pay')];
  const answers = answersByKey(scalers, startRound(metrics, scalers));
  const [answer] = await answers.of('shop/web');
  return { answer, faults };
}

describe('an internal error', () => {
  it('in a check for duplicate series is reported, and costs no value', async () => {
    const { answer, faults } = await round((query) => (query.includes('count by') ? DEFECTIVE : NONE));

    expect(answer).toEqual(NONE);
    expect(faults).toEqual([expect.any(TypeError)]);
  });

  it('in a query for several namespaces is reported, and is no value', async () => {
    const { answer, faults } = await round((query) => (query.includes('count by') ? NONE : DEFECTIVE));

    expect(answer).toEqual(INTERNAL_ERROR);
    expect(faults).toEqual([expect.any(TypeError)]);
  });
});
