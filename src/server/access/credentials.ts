import type { Request } from 'express';

/**
 * Carries the same value as `Authorization`. The service proxy of the API server removes `Authorization`, which is for
 * itself.
 */
export const TOKEN_HEADER = 'x-promscaler-authorization';

/** Returns the headers with the credentials of a client, to forward them to another replica. */
export function credentialsOf({ headers }: Pick<Request, 'headers'>): Readonly<Record<string, string>> {
  const { authorization } = headers;
  const own = headers[TOKEN_HEADER];
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(typeof own === 'string' ? { [TOKEN_HEADER]: own } : {}),
  };
}
