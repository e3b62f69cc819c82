import type { NextFunction, Response } from 'express';
import { Busy } from './paced.js';

/** Responds with 503: the client should retry after a second. */
export function refuse(response: Response, error: string): void {
  response.set('Retry-After', '1').status(503).json({ error });
}

/** Returns an error handler of a page: 503 if too many clients wait, otherwise the error handler of Express. */
export function refusing(response: Response, next: NextFunction): (error: unknown) => void {
  return (error) => {
    if (error instanceof Busy) refuse(response, error.message);
    else next(error);
  };
}
