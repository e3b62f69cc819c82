import { describe, expect, it } from '@jest/globals';
import { createProgress } from '../../../src/cli/output/progress.js';

function written(isTerminal: boolean): string {
  let text = '';
  const stderr = { isTerminal, write: (more: string) => void (text += more) };
  const progress = createProgress({ stderr }, (finished, total) => `${finished} of ${total}`);
  progress.clear();
  progress.add(2);
  progress.done();
  progress.done();
  progress.clear();
  return text;
}

describe('progress', () => {
  it('is one line of a terminal, which is cleared at the end', () => {
    expect(written(true).split('\r\u001B[K')).toEqual(['', '1 of 2', '2 of 2', '']);
  });

  it('is not in a log', () => {
    expect(written(false)).toBe('');
  });
});
