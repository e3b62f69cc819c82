import { CredentialError } from '../../http/credentials.js';
import { errorCode } from '../../units/failure.js';
import type { Renewed } from './renewed.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A request exactly as it will be sent, because a signature covers all of it. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string | null;
  readonly contentType: string | null;
}

export interface SignedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Strings that must not appear in any message. */
  readonly secrets: readonly string[];
  /** Returns whether the request should be sent again with new headers, because its response has this status. */
  readonly renew: (status: number) => boolean;
}

/** Returns the headers of a request. Throws a `CredentialError`, or the reason of `signal` once it is aborted. */
export type SignIn = (request: OutgoingRequest, signal: AbortSignal) => Promise<SignedHeaders>;

/** Sends a token in the Authorization header. After a response with status 401, a new token is requested. */
export function createBearer(token: Renewed<string>): SignIn {
  return async (_request, signal) => {
    const value = await token.get(signal);
    return {
      headers: { Authorization: `Bearer ${value}` },
      secrets: [value],
      renew: (status) => status === 401 && token.refuse(value),
    };
  };
}

/**
 * Loads a package of an authentication method when it is first needed. Throws a `CredentialError` if the image was
 * built without the package.
 */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new CredentialError(`the package ${name} is not installed: install the optional dependencies`);
  }
}
