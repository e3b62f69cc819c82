import { expect, it } from '@jest/globals';
import { cacheDirectory } from '../../src/files/cache-directory.js';

it.each([
  [{ XDG_CACHE_HOME: '/cache', HOME: '/home/me' }, '/cache/promscaler'],
  [{ XDG_CACHE_HOME: 'cache', HOME: '/home/me', LOCALAPPDATA: '/local' }, '/home/me/.cache/promscaler'],
  [{ LOCALAPPDATA: '/local' }, '/local/promscaler'],
  [{ XDG_CACHE_HOME: 'cache', HOME: '' }, null],
])('cacheDirectory(%j) is %s', (env, directory) => {
  expect(cacheDirectory(env)).toBe(directory);
});
