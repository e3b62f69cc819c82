import { homedir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { homeFolder } from '../../src/cli/home-folder.js';

describe('homeFolder', () => {
  it('is $HOME where it is set', () => {
    expect(homeFolder({ env: { HOME: '/home/ann' } })).toBe('/home/ann');
  });

  it.each([{}, { HOME: '' }])('is that of the user with %j', (env) => {
    expect(homeFolder({ env })).toBe(homedir());
  });
});
