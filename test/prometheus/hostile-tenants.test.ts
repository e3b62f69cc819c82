import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { FailureReason } from '../../src/units/failure.js';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import { aSource, cpuMetric, externalMetric } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { fakeEngine, type Treatment } from './fake-engine.js';
import { startRound, values } from './fakes.js';
import { due } from './round-fixture.js';

const ROUNDS = 8;
const OTHERS = 49;
const PERIOD_MS = 15_000;

const ONE = values([{ labels: {}, value: 1 }]);
const failure = (reason: FailureReason): Answer => ({ class: 'failed', reason, message: `h: ${reason}` });
const after = (seconds: number, answer: Answer): Treatment => ({ seconds, answer });

interface Way {
  readonly queries: number;
  readonly treat: Treatment;
  /** Default: 4. */
  readonly cpus?: number;
  readonly config?: Partial<SourceConfig>;
}

/** As in the table of reliability.md. */
const WAYS: Readonly<Record<string, Way>> = {
  '20 that are answered after 7 s': { queries: 20, treat: after(7, ONE) },
  '12 that always time out': { queries: 12, treat: after(Infinity, ONE) },
  '14 nested subqueries of 3 s on one CPU': { queries: 14, treat: { cpuSeconds: 3, answer: ONE }, cpus: 1 },
  '300 that a proxy answers with 403': { queries: 300, treat: after(0.05, failure('unauthorized')) },
  '300 answered with 429': { queries: 300, treat: after(0.05, failure('rate_limited')) },
  '100 answered with 500 after 1 s': { queries: 100, treat: after(1, failure('server_error')) },
  '300 that close the connection': { queries: 300, treat: after(0.05, failure('connection')) },
  '40 answers that are too large after 3 s': { queries: 40, treat: after(3, failure('too_large')) },
  '1,000 distinct queries of 0.1 s': { queries: 1000, treat: { cpuSeconds: 0.1, answer: ONE } },
  '500 invalid queries': { queries: 500, treat: after(0.3, failure('bad_query')) },
  '12 that are answered after 7 s, with one slot': {
    queries: 12,
    treat: after(7, ONE),
    config: { maxConcurrentQueries: 1 },
  },
};

const othersTreatment = (query: string): Treatment => ({
  cpuSeconds: query.includes('cpu') ? 0.1 : 0.005,
  answer: query.includes('cpu') ? usage(query) : ONE,
});

function usage(query: string): Answer {
  const namespaces = /namespace=~"([^"]*)"/.exec(query)?.[1]?.split('|') ?? [];
  return values(
    namespaces.map((namespace) => ({ labels: { namespace, pod: 'p', container: 'c' }, value: 1 })),
  );
}

const DECISIONS = ROUNDS * OTHERS * 2;

/** Returns how many of the decisions of the other namespaces lack a value. */
async function lostDecisions({ queries, treat, cpus = 4, config = {} }: Way): Promise<number> {
  const clock = new ManualClock();
  const engine = fakeEngine({
    clock,
    slots: 20,
    cpus,
    treat: (query) => (query.startsWith('hostile') ? treat : othersTreatment(query)),
  });
  const source = createMetricSource({
    sources: new Map([['default', aSource({ flavor: 'prometheus', ifVictoriaMetrics: null, ...config })]]),
    clock,
    onQuery: () => undefined,
    createClient: engine.createClient,
  });
  const others = Array.from({ length: OTHERS }, (_, index) => {
    const own = externalMetric({ query: `own{n="$namespace", s="$name"}` });
    return [due([cpuMetric, own], `n${index}`, 'a'), due([own], `n${index}`, 'b')];
  }).flat();
  const hostile = Array.from({ length: queries }, (_, index) =>
    externalMetric({ query: `hostile${index}`, identity: `q${index}` }),
  );
  const all = others.toSpliced(others.length / 2, 0, due(hostile, 'hostile', 'h'));
  let withValue = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    let isOpen = true;
    const answers = startRound(source, all);
    for (const scaler of others)
      void answers.of(scaler).then((list) => {
        if (isOpen && list.every((answer) => answer.class === 'value')) withValue += 1;
      });
    await clock.advanceAndSettle(PERIOD_MS);
    isOpen = false;
  }
  return DECISIONS - withValue;
}

/** The table of the page: the queries, and the decisions that are lost before and now. */
function readTable(): readonly (readonly [string, string, string])[] {
  const page = readFileSync('docs/design/reliability.md', 'utf8');
  const section = page.slice(page.indexOf('### A hostile namespace')).split(/\n#+ /)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
  return rows.slice(1).map((row) => {
    const [name = '', before = '', now = ''] = row.split('|').slice(1, -1);
    return [name.trim(), before.trim(), now.trim()];
  });
}

describe('49 namespaces next to a hostile one', () => {
  const table = readTable();

  it('are in the table of reliability.md, in 784 decisions', () => {
    expect(table.map(([name]) => name)).toEqual(Object.keys(WAYS));
    expect(table[0]?.[1]).toBe(`445 of ${DECISIONS}`);
  });

  it.each(table)(
    'lose next to %s as many decisions as the table says: before %s, now %s',
    async (name, _, now) => {
      const way = WAYS[name];

      expect(way === undefined ? null : await lostDecisions(way)).toBe(Number(now));
    },
  );

  it('lose none in any way', () => {
    expect(table.map(([, , now]) => now)).toEqual(table.map(() => '0'));
  });

  it('lose none without it', async () => {
    expect(await lostDecisions({ queries: 0, treat: after(0, ONE) })).toBe(0);
  });
});
