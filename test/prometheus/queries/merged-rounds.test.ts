import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { MetricSpec } from '../../../src/scaler/spec.js';
import { cpuMetric, T0 } from '../../support/builders.js';
import { values } from '../fakes.js';
import { due, setUp } from '../round-fixture.js';

/* What the data of one workload or namespace does to a query that others share. */

const rps: MetricSpec = {
  type: 'Pods',
  name: 'rps',
  identity: 'rps',
  source: 'default',
  query: 'sum by (pod) (rate(requests_total{namespace="$namespace", pod=~"$pods"}[1m]))',
  selector: [],
  target: { type: 'AverageValue', milli: 1000n },
};
const NAMES = Array.from({ length: 12 }, (_, index) => `w${String(index).padStart(2, '0')}`);
const SERIES = NAMES.map((name) => ({ labels: { namespace: name, pod: `${name}-0` }, value: 1 }));
const VALUE = values(SERIES);
const WHY = 'warning from the server: mix of histograms and floats';
const ANSWERS: readonly (readonly [string, Answer])[] = [
  ['partial', { class: 'partial', series: SERIES, evaluatedAt: T0, why: WHY }],
  ['partial', { class: 'partial', series: [], evaluatedAt: T0, why: WHY }],
  ['invalid', { class: 'invalid', message: 'native histograms' }],
  ['failed', { class: 'failed', reason: 'execution', message: 'many-to-many' }],
  ['failed', { class: 'failed', reason: 'too_large', message: '20,001 series' }],
];
const LATE: readonly Answer[] = [
  { class: 'failed', reason: 'timeout', message: 'timeout' },
  { class: 'failed', reason: 'server_error', message: 'HTTP 500' },
];

const KINDS = [
  ['workload', NAMES.map((name) => due([rps], 'shop', name)), (name: string) => `shop/${name}`],
  ['namespace', NAMES.map((name) => due([cpuMetric], name, 'web')), (name: string) => `${name}/web`],
] as const;

describe.each(KINDS)('the answer to a query for 12 of a %s', (_, scalers, keyOf) => {
  const classesOf = async (fixture: ReturnType<typeof setUp>): Promise<Readonly<Record<string, number>>> => {
    const round = fixture.start(...scalers);
    const counts: Record<string, number> = {};
    for (const name of NAMES) {
      const [answer] = await round.of(keyOf(name));
      const key = `${name === 'w05' ? 'cause' : 'other'} ${answer?.class}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  };

  it.each(ANSWERS)(
    'is %s for its cause alone, at once and with 2 queries in the next round',
    async (own, bad) => {
      const fixture = setUp((query) => (query.includes('w05') ? bad : VALUE));

      await expect(classesOf(fixture)).resolves.toEqual({ [`cause ${own}`]: 1, 'other value': 11 });

      const sent = fixture.asked.length;
      await expect(classesOf(fixture)).resolves.toEqual({ [`cause ${own}`]: 1, 'other value': 11 });
      expect(fixture.asked.length - sent).toBe(2);
    },
  );

  it.each(LATE)('fails for its cause alone after 5 rounds: %j', async (bad) => {
    const fixture = setUp((query) => (query.includes('w05') ? bad : VALUE));

    for (let round = 0; round < 5; round += 1) await classesOf(fixture);

    await expect(classesOf(fixture)).resolves.toEqual({ 'cause failed': 1, 'other value': 11 });
  });
});

describe('the queries that a data source gets to find causes', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({
    ...rps,
    query: rps.query.replace('1m', `${index + 1}m`),
  }));
  const hostile = many.flatMap((metric) => NAMES.map((name) => due([metric], 'evil', name)));
  const shop = NAMES.map((name) => due([rps], 'shop', name));

  it('are 20 for a namespace and 40 for all, and enough for another namespace while one uses up its own', async () => {
    const bad: Answer = { class: 'partial', series: SERIES, evaluatedAt: T0, why: WHY };
    const fixture = setUp((query) => (query.includes('"evil"') || query.includes('w05') ? bad : VALUE));

    const round = fixture.start(...hostile, ...shop);
    const answers = await Promise.all(NAMES.map((name) => round.of(`shop/${name}`)));

    expect(answers.filter(([answer]) => answer?.class === 'value')).toHaveLength(11);
    expect(fixture.asked.filter((query) => query.includes('"evil"'))).toHaveLength(30 + 20);
    expect(fixture.asked.length).toBeLessThanOrEqual(31 + 40);
  });
});
