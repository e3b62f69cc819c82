import { asObject, textIn } from './json.js';

/** What may be told of an error of the runtime; never the error itself, which may hold a whole request. */
export interface ErrorFacts {
  /** `ENOENT`, `ECONNREFUSED`; empty without. */
  readonly code: string;
  /** Empty without. */
  readonly message: string;
}

/** Code and message of whatever was thrown. By its members, since an error may be of another realm's `Error`. */
export function errorFacts(cause: unknown): ErrorFacts {
  if (typeof cause === 'string') return { code: '', message: cause };
  const error = asObject(cause);
  const inherited = error?.['message'];
  return {
    code: textIn(error, 'code') ?? '',
    message: typeof inherited === 'string' ? inherited : '',
  };
}
