import { describe, expect, it } from '@jest/globals';
import { watchSourceClocks } from '../../src/telemetry/source-clocks.js';

describe('the clock of a data source', () => {
  it.each([
    [30, []],
    [-30, []],
    [30.1, [['warn', 30]]],
    [-31, [['warn', -31]]],
  ])('that is %d s ahead is told of beyond 30 s', (ahead, told) => {
    expect(linesOf([ahead])).toEqual(told);
  });

  it('is told of once, and again after it was right', () => {
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
  const tell = watchSourceClocks(log);
  for (const ahead of steps) tell('default', ahead);
  return lines;
}
