import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  formatRecordLine,
  parseRecordLine,
  type RecordLine,
  replayLine,
} from '../../src/recording/record-line.js';
import { checkAll, snapshots } from '../decision/random-snapshots.js';
import { runSeed } from '../faults/run-seed.js';
import { SOURCE_PRODUCT } from '../faults/source-product.js';
import { record } from '../telemetry/record-builder.js';

const VERSION = '1.2.3';

function parsed(text: string): RecordLine {
  const line = parseRecordLine(text);
  if ('error' in line) throw new Error(line.error);
  return line;
}

describe('a replay', () => {
  it('of every decision of a service, over half an hour with faults, gives the decisions that were taken', async () => {
    const lines: string[] = [];
    const product: typeof SOURCE_PRODUCT = {
      ...SOURCE_PRODUCT,
      createService: (options) =>
        SOURCE_PRODUCT.createService({
          ...options,
          onCycle: (output) => {
            lines.push(formatRecordLine(output.record, VERSION));
            options.onCycle?.(output);
          },
        }),
    };

    const { writes } = await runSeed({ seed: 4, hours: 0.5, product });
    const replays = lines.map((line) => replayLine(parsed(line), VERSION));

    expect(writes).toBeGreaterThan(0);
    expect(replays.filter(({ kind }) => kind === 'same').length).toBeGreaterThan(200);
    expect(replays.filter(({ kind }) => kind !== 'same' && kind !== 'none')).toEqual([]);
  });

  it('of any of 500 snapshots gives the same decision', () => {
    checkAll(snapshots, (snapshot, decision) => {
      const line = formatRecordLine(record({ scaler: snapshot.scaler, snapshot, decision }), VERSION);

      expect(replayLine(parsed(line), VERSION)).toEqual({ kind: 'same', wording: [] });
    });
  });
});

describe('a replay of stored records of version 0.1.0', () => {
  const linesOf = (name: string): readonly RecordLine[] =>
    readFileSync(new URL(`records/${name}.jsonl`, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n')
      .map(parsed);

  it.each([
    ['without-forecast', ['scale-up', 'none', 'scale-down'], []],
    // A raise, the next one, four of five minutes unknown, raises that were not worth it, Observe, two earlier days.
    [
      'with-forecast',
      ['scale-up', 'scale-up', 'scale-up', 'none', 'none', 'none'],
      [true, true, false, false, false, false],
    ],
  ])('%s has no difference but of wording', (name, actions, isUsed) => {
    const lines = linesOf(name);

    expect(lines.map(({ decision }) => decision?.['action'])).toEqual(actions);
    expect(
      lines.flatMap(({ decision }) => {
        const { forecast } = (decision ?? {}) as { readonly forecast?: { readonly isUsed: boolean } };
        return forecast === undefined ? [] : [forecast.isUsed];
      }),
    ).toEqual(isUsed);
    for (const line of lines) expect(replayLine(line, 'next')).toMatchObject({ kind: 'same' });
    if (name === 'without-forecast')
      expect(lines.map((line) => replayLine(line, 'next'))).toEqual(
        lines.map(() => ({ kind: 'same', wording: [] })),
      );
  });
});

describe('parseRecordLine', () => {
  const [line] = [formatRecordLine(record(), VERSION)];

  it.each([
    ['a line that ends early', line.slice(0, 100), 'is not JSON'],
    ['a list', '[]', 'is not an object'],
    ['a snapshot', '{"scaler":{},"now":"2026-01-01T00:00:00Z"}', 'has no field "format"'],
    ['a newer format', line.replace('"format":1', '"format":2'), 'has format 2, must be 1'],
    ['a line without time', line.replace('"at":"', '"at":"x'), 'has no time'],
    ['a line without decision', line.replace('"decision":{', '"decided":{'), 'has no decision'],
  ])('rejects %s', (_, text, error) => {
    const result = parseRecordLine(text);

    expect('error' in result ? result.error : null).toContain(error);
  });
});
