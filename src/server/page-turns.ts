import type { RequestHandler, Response } from 'express';
import { createSpareTime } from './spare-time.js';
import type { SpareTimeOptions } from './spare-time.js';

/** Pages that take time to make, one after the other. */
export interface PageTurns {
  /** The same page, made when it is its turn: synchronously, by what answers at once. */
  readonly inTurn: (page: RequestHandler) => RequestHandler;
  /** Calls `send` when it is its turn, unless the client has left: for what is large but made already. */
  readonly queue: (response: Response, send: () => void) => void;
}

export interface PageTurnOptions extends SpareTimeOptions {
  /** Of answers that clients have not taken yet, all together; default 32 MiB. */
  readonly mostUnsentBytes?: number;
}

const MOST_UNSENT_BYTES = 32 * 1024 * 1024;

/**
 * 256 clients that ask for a large list each would otherwise keep decisions and probes waiting for seconds: pages are made
 * in spare time. A page whose client has left is not made. While too many bytes wait for clients the answer is 503.
 */
export function createPageTurns(options: PageTurnOptions): PageTurns {
  const { mostUnsentBytes = MOST_UNSENT_BYTES } = options;
  const spareTime = createSpareTime(options);
  let unsentBytes = 0;

  /** What waits for the client until its connection has taken all of it, or is gone. */
  const account = (response: Response): void => {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    unsentBytes += bytes;
    response.on('close', () => (unsentBytes -= bytes));
  };

  const queue: PageTurns['queue'] = (response, send) => {
    response.on('close', spareTime.queue(send));
  };

  return {
    queue,
    inTurn: (page) => (request, response, next) =>
      queue(response, () => {
        if (unsentBytes >= mostUnsentBytes) {
          refuse(response, TOO_MUCH);
          return;
        }
        try {
          void page(request, response, next);
          account(response);
        } catch (error) {
          next(error);
        }
      }),
  };
}

const TOO_MUCH = 'too many answers wait for clients that do not read them';

/** Too much at once; the client may come back. */
export function refuse(response: Response, error: string): void {
  response.set('Retry-After', '1').status(503).json({ error });
}
