import type { Renewed } from './renewed.js';
import type { SignIn } from '../requests/authentication.js';

/** Sends a token in the Authorization header. After a 401, requests a new token. */
export function createBearer(token: Renewed<string>): SignIn {
  return {
    headersFor: async (_request, signal) => {
      const value = await token.get(signal);
      return { headers: { Authorization: `Bearer ${value}` }, secrets: [value], origin: value };
    },
    renew: (status, { origin }) => status === 401 && typeof origin === 'string' && token.refuse(origin),
  };
}
