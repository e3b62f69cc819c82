import { describe, expect, it } from '@jest/globals';
import { rememberByText } from '../../src/units/recent-map.js';

describe('rememberByText', () => {
  it('builds once for equal texts, and returns the same object', () => {
    const built: string[] = [];
    const remembered = rememberByText((text) => {
      built.push(text);
      return { text };
    });

    expect(remembered('cpu')).toBe(remembered(['c', 'pu'].join('')));
    expect(remembered('memory')).toEqual({ text: 'memory' });
    expect(built).toEqual(['cpu', 'memory']);
  });

  it('keeps 2 texts of at most 2, and forgets all with the third', () => {
    let built = 0;
    const remembered = rememberByText(() => (built += 1), 2);

    expect(['a', 'b', 'a', 'b'].map(remembered)).toEqual([1, 2, 1, 2]);
    expect(['c', 'a', 'c', 'a'].map(remembered)).toEqual([3, 4, 3, 4]);
  });
});
