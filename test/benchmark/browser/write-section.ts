import { writeMarkedSection } from '../marked-section.js';
import type { BrowserFigures } from './measure.js';

const ROWS: readonly (readonly [string, (figures: BrowserFigures) => string])[] = [
  ['first rows painted after the start of the navigation', ({ firstRowsMs }) => `${firstRowsMs} ms`],
  ['frames per second while scrolling', ({ framesPerSecond }) => String(framesPerSecond)],
  ['the same of a plain page with as many rows', ({ plainFramesPerSecond }) => String(plainFramesPerSecond)],
  ['work of the main thread for a frame', ({ frameWorkMs }) => `${frameWorkMs} ms`],
  ['longest time between two of these frames', ({ longestFrameMs }) => `${longestFrameMs} ms`],
  ['rows painted after a key in the search', ({ searchMs }) => `${searchMs} ms`],
  ['heap of the page', ({ heapMb }) => `${heapMb} MB`],
  ['answer with all rows, compressed', ({ answerKb }) => `${answerKb} kB`],
];

/** Replaces the section of this benchmark, or appends it. */
export function writeSection(file: string, results: readonly BrowserFigures[], machine: string): void {
  const heads = results.map(({ scalers }) => scalers.toLocaleString('en-US'));
  const section = [
    '## Dashboard',
    '',
    'The overview in headless Chromium without a GPU, from a server on the same machine. `npm run bench -- browser --write`',
    'measures it and writes this section. Scrolled are 120 pixels a frame for 3 s, 112 rows a second. The targets with',
    '5,000 scalers: first rows within 1 s, and 60 frames per second.',
    '',
    `- Machine: ${machine}`,
    '',
    `| scalers | ${heads.join(' | ')} |`,
    `| --- |${' ---: |'.repeat(heads.length)}`,
    ...ROWS.map(([name, format]) => `| ${name} | ${results.map(format).join(' | ')} |`),
  ];
  writeMarkedSection(file, 'browser', section);
}
