import { describe, expect, it } from '@jest/globals';
import { createClockWarnings } from '../../src/telemetry/outages.js';

describe('the clock of a data source', () => {
  it.each([
    [30, []],
    [-30, []],
    [30.1, [['warn', 30]]],
    [-31, [['warn', -31]]],
  ])('is logged if it is %d s ahead, beyond 30 s', (ahead, lines) => {
    expect(linesOf([ahead])).toEqual(lines);
  });

  it('is logged once, and again after it was in sync', () => {
    expect(linesOf([90, 91, 0, 0, 90])).toEqual([
      ['warn', 90],
      ['info', undefined],
      ['warn', 90],
    ]);
  });
});

function linesOf(steps: readonly number[]): readonly (readonly [string, unknown])[] {
  const lines: (readonly [string, unknown])[] = [];
  const note =
    (level: string) =>
    (_message: string, facts?: Readonly<Record<string, unknown>>): void => {
      lines.push([level, facts?.['aheadSeconds']]);
    };
  const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const { sourceClockAhead } = createClockWarnings(log);
  for (const ahead of steps) sourceClockAhead('default', ahead);
  return lines;
}
