import { writeMarkedSection } from '../marked-section.js';
import type { Figure } from './figure.js';

interface Run {
  readonly machine: string;
  readonly scalers: number;
}

/** Replaces the section of this benchmark, or appends it. */
export function writeSection(file: string, figures: readonly Figure[], { machine, scalers }: Run): void {
  const section = [
    '## Pages and event streams',
    '',
    `The HTTP server with the records of ${scalers.toLocaleString('en-US')} scalers, in its own process. Pages are read one by one, compressed`,
    'where the server compresses. `npm run bench -- dashboard --write` measures it and writes this section.',
    '',
    `- Machine: ${machine}`,
    '- Longest block: the longest delay of a timer, without the time in which the thread waited for a processor',
    '',
    '| | time | longest block, CPU, size | promised |',
    '| --- | ---: | --- | --- |',
    ...figures.map(
      ({ what, figure, block, promised }) => `| ${what.trim()} | ${figure} | ${block} | ${promised} |`,
    ),
  ];
  writeMarkedSection(file, 'server', section);
}
