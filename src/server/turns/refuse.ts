import type { Response } from 'express';

/** Responds with 503: the client should retry after a second. */
export function refuse(response: Response, error: string): void {
  response.set('Retry-After', '1').status(503).json({ error });
}
