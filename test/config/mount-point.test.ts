import { describe, expect, it } from '@jest/globals';
import { isMountPoint } from '../../src/config/read-path-contents.js';

describe('isMountPoint', () => {
  it('returns true for a file on another device than its directory', () => {
    expect(isMountPoint({ dev: 2 }, { dev: 1 })).toBe(true);
    expect(isMountPoint({ dev: 1 }, { dev: 1 })).toBe(false);
  });
});
