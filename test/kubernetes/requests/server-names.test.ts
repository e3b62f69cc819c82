import { describe, expect, it } from '@jest/globals';
import { serverNames } from '../../../src/kubernetes/requests/server-names.js';

describe('serverNames', () => {
  it.each([undefined, null, {}, { socket: null }, { socket: { authorized: true } }])(
    'gives none for %j, which no TLS connection served',
    (request) => {
      expect(serverNames(request)).toBeNull();
    },
  );
});
