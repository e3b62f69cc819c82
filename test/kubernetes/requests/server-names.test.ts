import { describe, expect, it } from '@jest/globals';
import { serverNames } from '../../../src/kubernetes/requests/server-names.js';

describe('serverNames', () => {
  it.each([undefined, null, {}, { authorized: true }])(
    'returns none for %j, which was not read over TLS',
    (socket) => {
      expect(serverNames(socket)).toBeNull();
    },
  );
});
