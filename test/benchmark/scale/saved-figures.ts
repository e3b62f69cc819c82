import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SizeFigures } from './run-size.js';

/** A size takes minutes, so the page can be written from several runs. */
export function saveFigures(directory: string, figures: SizeFigures): void {
  const { clock, size } = figures;
  const pace = clock === 1 ? '-real-time' : '';
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${size.scalers}x${size.pods}${pace}.json`), JSON.stringify(figures));
}

/** Sorted by size; of one size, real time is last. */
export function readFigures(directory: string): readonly SizeFigures[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as SizeFigures)
    .sort((a, b) => a.size.scalers - b.size.scalers || a.size.pods - b.size.pods || b.clock - a.clock);
}
