import { homedir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { homeDirectory } from '../../../src/cli/reach/cluster-options.js';

describe('homeDirectory', () => {
  it('is $HOME if set', () => {
    expect(homeDirectory({ env: { HOME: '/home/ann' } })).toBe('/home/ann');
  });

  it.each([{}, { HOME: '' }])('is that of the user with %j', (env) => {
    expect(homeDirectory({ env })).toBe(homedir());
  });
});
