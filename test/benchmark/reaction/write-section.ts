import { writeMarkedSection } from '../marked-section.js';
import { median } from '../report.js';
import type { ReactionFigures } from './measure.js';
import { floorSeconds, RATE_WINDOW_SECONDS, SCALERS, SCRAPE_SECONDS } from './plan.js';

/** Returns the lines of a Markdown table, a column for each sync period. */
export function tableOf(results: readonly ReactionFigures[]): readonly string[] {
  const row = (name: string, cell: (figures: ReactionFigures) => string): string =>
    `| ${[name, ...results.map(cell)].join(' | ')} |`;
  return [
    row('figure', ({ syncPeriodSeconds }) => `\`syncPeriodSeconds: ${syncPeriodSeconds}\``),
    `| --- |${results.map(() => ' --- |').join('')}`,
    row('first PATCH: minimum, median, maximum', ({ steps }) =>
      spread(steps.map(({ firstSeconds }) => firstSeconds)),
    ),
    row('PATCH for the whole step: minimum, median, maximum', ({ steps }) =>
      spread(steps.map(({ fullSeconds }) => fullSeconds)),
    ),
    row(
      'scrape interval + rate window + sync period',
      ({ syncPeriodSeconds }) => `${floorSeconds(syncPeriodSeconds)} s`,
    ),
    row('queries', ({ queriesPerSecond }) => `${queriesPerSecond.toFixed(1)}/s`),
    row('CPU time of promscaler', ({ serviceCpuMs }) => `${serviceCpuMs.toFixed(0)} ms/s`),
    row('CPU time of Prometheus', ({ prometheusCpuMs }) => `${prometheusCpuMs.toFixed(0)} ms/s`),
  ];
}

/** Returns minimum, median and maximum. */
export function spread(seconds: readonly number[]): string {
  const figures = [Math.min(...seconds), median(seconds), Math.max(...seconds)];
  return figures.map((figure) => `${figure.toFixed(1)} s`).join(', ');
}

/** Replaces the section of this benchmark, or appends it. */
export function writeSection(file: string, results: readonly ReactionFigures[], machine: string): void {
  writeMarkedSection(file, 'reaction', [sectionOf(results, machine)]);
}

function sectionOf(results: readonly ReactionFigures[], machine: string): string {
  const steps = results[0]?.steps.length ?? 0;
  return `## Reaction time

How long a step in the load takes until the PATCH arrives at the API server, with a real Prometheus.
\`npm run bench -- reaction --write\` measures it and writes this section. Each of ${steps} steps doubles the load of one
of ${SCALERS} scalers at a random time. The scrape interval is ${SCRAPE_SECONDS} s and the rate window ${RATE_WINDOW_SECONDS} s; no window or policy delays
a change. The first PATCH may come before the rate window has passed, for a part of the step.

- Machine: ${machine}
- Date: ${new Date().toISOString().slice(0, 10)}

${tableOf(results).join('\n')}

Rates of queries and CPU time are for all ${SCALERS} scalers together, with one query for each.`;
}
