import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { countAre, countOf } from '../../src/units/format.js';
import { listSources } from '../architecture/source-files.js';

const ROOT = join(import.meta.dirname, '../..');

describe('a number with its noun', () => {
  it('is singular for 1 only', () => {
    expect([0, 1, 2].map((count) => countOf(count, 'pod'))).toEqual(['0 pods', '1 pod', '2 pods']);
    expect([1, 2].map((count) => countAre(count, 'replica'))).toEqual(['1 replica is', '2 replicas are']);
  });

  it('is written by countOf: no text of src has a plural after a number that may be 1', () => {
    const found = listSources(ROOT, 'src').flatMap((file) =>
      pluralsIn(readFileSync(join(ROOT, file), 'utf8')).map((text) => `${file}: ${text}`),
    );

    expect(found).toEqual([]);
  });

  it.each([
    ['`the target was set to ${result.replicas} replicas`', ['${result.replicas} replicas']],
    ['`at most ${MAX_PODS} pods`', []],
    ['`${same} of ${rounds} rounds`', []],
    ["`${countOf(pods, 'pod')} are ready`", []],
  ])('%s has the plurals %j', (text, expected) => {
    expect(pluralsIn(text)).toEqual(expected);
  });
});

/** A constant is above 1. In `0 of 1 pods`, as kubectl's `0/1`, the plural is the usual form. */
function pluralsIn(text: string): readonly string[] {
  const nouns = 'replicas|pods|documents|scalers|rounds|changes|namespaces|containers';
  const pattern = new RegExp(String.raw`(\bof )?\$\{([^{}]*)\} (?:${nouns})\b(?!-)`, 'g');
  return [...text.matchAll(pattern)]
    .filter(([, whole, value = '']) => whole === undefined && !/(?:^|\.)[A-Z][A-Z_]+$|'$/.test(value))
    .map(([match]) => match);
}
