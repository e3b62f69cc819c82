import { asObject, textIn } from './json.js';

/** The parts of a runtime error that are safe to report: the error itself may hold a whole request. */
export interface ErrorFacts {
  /** `ENOENT`, `ECONNREFUSED`; empty if it has none. */
  readonly code: string;
  readonly message: string;
}

/** Returns code and message of a thrown value. Not by `instanceof`: the error may come from another realm. */
export function errorFacts(cause: unknown): ErrorFacts {
  if (typeof cause === 'string') return { code: '', message: cause };
  const error = asObject(cause);
  const inherited = error?.['message'];
  return {
    code: textIn(error, 'code') ?? '',
    message: typeof inherited === 'string' ? inherited : '',
  };
}
