import { expect, it } from '@jest/globals';
import { withoutTrailingSlashes } from '../../src/http/http-client.js';

it.each([
  ['http://p:9090', 'http://p:9090'],
  ['http://p:9090/', 'http://p:9090'],
  ['http://p:9090/a//b///', 'http://p:9090/a//b'],
  ['', ''],
  ['///', ''],
])('converts base URL %j to %j', (url, base) => {
  expect(withoutTrailingSlashes(url)).toBe(base);
});
