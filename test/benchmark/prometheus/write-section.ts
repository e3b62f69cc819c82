import { writeMarkedSection } from '../marked-section.js';
import { percentile } from '../scale/rows.js';
import { PERIOD_SECONDS } from '../scale/workloads.js';
import { SCRAPE_SECONDS, WINDOW_SECONDS } from './config.js';
import type { PrometheusFigures } from './measure.js';

const seconds = (value: number): string => `${value.toFixed(2)} s`;
const milliseconds = (value: number): string => `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms`;
const megabytes = (value: number): string => `${(value / 1e6).toFixed(0)} MB`;
const count = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: Number.isInteger(value) ? 0 : 1 });

/** Returns the lines of two Markdown tables: the figures, and what each kind of query costs. */
export function tableOf(figures: PrometheusFigures): readonly string[] {
  const { alone, rounds, service, start, series, roundCount, kinds, faults } = figures;
  const { cost } = rounds;
  /** The rounds are due every 15 s, but end earlier or later. */
  const perRound = (value: number, { seconds: span }: { readonly seconds: number } = cost): number =>
    (value * PERIOD_SECONDS) / span;
  const aloneCpuSeconds = perRound(alone.cost.cpuSeconds, alone.cost);
  const roundCpuSeconds = perRound(cost.cpuSeconds);
  const queryCpuSeconds = (roundCpuSeconds - aloneCpuSeconds) / perRound(cost.queries);
  const row = (name: string, without: string, withService: string): string =>
    `| ${[name, without, withService].join(' | ')} |`;
  const logged = kinds.reduce((sum, { engineSeconds }) => sum + engineSeconds, 0);
  return [
    row('figure', 'Prometheus alone', 'with promscaler'),
    '| --- | ---: | ---: |',
    row('measured', `${alone.cost.seconds.toFixed(0)} s`, `${roundCount} rounds of ${PERIOD_SECONDS} s`),
    row('series in the head block', '', count(series)),
    row(
      'samples appended per second',
      count(Math.round(alone.cost.appendedSamples / alone.cost.seconds)),
      count(Math.round(cost.appendedSamples / cost.seconds)),
    ),
    row('CPU of Prometheus per 15 s', seconds(aloneCpuSeconds), seconds(roundCpuSeconds)),
    row('... for a query, without the scrapes', '', milliseconds(queryCpuSeconds)),
    row(
      'RSS of Prometheus, the highest reading',
      megabytes(alone.residentBytes),
      megabytes(rounds.residentBytes),
    ),
    row('queries per round, as promscaler counts', '', count(service.queries / roundCount)),
    row('queries per round, as Prometheus counts', '', count(cost.queries / roundCount)),
    row('time in the query engine per query', '', milliseconds(cost.engineSeconds / cost.queries)),
    row(
      'time in the queue of the query engine per query',
      '',
      milliseconds(cost.queueSeconds / cost.queries),
    ),
    row('time in the query engine per round', '', seconds(cost.engineSeconds / roundCount)),
    row('CPU of promscaler per round', '', seconds(service.cpuSeconds / roundCount)),
    row(
      'wall time of a round, median, max',
      '',
      `${seconds(percentile(service.pace.roundSeconds, 0.5))}, ${seconds(Math.max(...service.pace.roundSeconds))}`,
    ),
    row('RSS of promscaler after the rounds', '', megabytes(service.pace.residentBytes)),
    row(
      'first, last decision after the start',
      '',
      `${seconds(start.firstSeconds)}, ${seconds(start.lastSeconds)}`,
    ),
    row('queries that failed until then', '', count(start.queryErrors)),
    '',
    '| query | queries | time in the query engine per query | share of the time |',
    '| --- | ---: | ---: | ---: |',
    ...kinds.map(
      ({ kind, queries, engineSeconds }) =>
        `| ${KINDS[kind]} | ${queries} | ${milliseconds(engineSeconds / queries)} | ${((engineSeconds * 100) / logged).toFixed(0)} % |`,
    ),
    ...(faults.length === 0
      ? []
      : ['', 'This run is not valid:', '', ...faults.map((fault) => `- ${fault}`)]),
  ];
}

const KINDS: Readonly<Record<PrometheusFigures['kinds'][number]['kind'], string>> = {
  resource: 'CPU utilization, of many namespaces at once',
  own: 'Pods query of a namespace, with `$pods`',
  shared: 'Pods query of a namespace, with `selector`',
  other: 'others',
};

/** Replaces the section of this benchmark, or appends it. */
export function writeSection(file: string, figures: PrometheusFigures, machine: string): void {
  const { size, load } = figures;
  writeMarkedSection(file, 'prometheus', [
    '## What Prometheus pays',
    '',
    'What the queries of promscaler cost a real Prometheus that holds the series of all pods, in real time.',
    '`npm run bench -- scale --prometheus --write` measures it and writes this section;',
    '[the README of the benchmark](../test/benchmark/README.md#scale-with-a-real-prometheus) explains each figure.',
    '',
    `- Machine: ${machine}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Load before Prometheus was measured alone, with the scrapes: ${load.toFixed(1)}`,
    `- Scalers: ${count(size.scalers)} with ${size.pods} pods each, as in [Scale](#scale)`,
    `- Series: four or five of each pod, scraped every ${SCRAPE_SECONDS} s; the queries have a window of ${WINDOW_SECONDS} s`,
    '',
    'The time in the query engine is wall time. The second table is from the query log of two rounds after the measured',
    'ones.',
    '',
    ...tableOf(figures),
  ]);
}
