import { asObject, textIn } from './json.js';

/** The parts of a runtime error that are safe to report. The error itself may contain a complete request. */
interface ErrorFacts {
  /** A code such as `ENOENT` or `ECONNREFUSED`; empty if the error has none. */
  readonly code: string;
  readonly message: string;
}

/** Returns code and message of a thrown value. Does not use `instanceof`: the error may come from another realm. */
export function errorFacts(cause: unknown): ErrorFacts {
  if (typeof cause === 'string') return { code: '', message: cause };
  const error = asObject(cause);
  const inherited = error?.['message'];
  return {
    code: textIn(error, 'code') ?? '',
    message: typeof inherited === 'string' ? inherited : '',
  };
}
